// Kernels on arrays, and the product of matrices in them.
#pragma once

#include "MPSNDArray.hpp"

namespace MPS {

class _MPS_EXPORT NDArrayMultiaryBase : public NS::Copying<NDArrayMultiaryBase, Kernel> {
 public:
  // What an array for the result has to be; null where the sources do not fit together.
  NDArrayDescriptor* destinationArrayDescriptor(const NS::Array* sources) const;
};

class _MPS_EXPORT NDArrayMultiaryKernel : public NS::Copying<NDArrayMultiaryKernel, NDArrayMultiaryBase> {
 public:
  // The result is a temporary array of the command buffer.
  NDArray* encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceArrays);
  void encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceArrays, const NDArray* destinationArray);
};

// D = alpha * A * B + beta * C for the matrices in dimensions 0 (columns) and 1 (rows); C may be missing. In the
// dimensions beyond, sources of length 1 serve all of the others.
class _MPS_EXPORT NDArrayMatrixMultiplication : public NS::Copying<NDArrayMatrixMultiplication, NDArrayMultiaryKernel> {
 public:
  static NDArrayMatrixMultiplication* alloc();
  NDArrayMatrixMultiplication* init(MTL::Device* device, NS::UInteger sourceCount);

  double alpha() const;
  void setAlpha(double alpha);
  double beta() const;
  void setBeta(double beta);
};

}  // namespace MPS
