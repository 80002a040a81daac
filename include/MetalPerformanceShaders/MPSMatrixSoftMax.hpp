// The softmax of each row of a matrix, and its logarithm.
#pragma once

#include "MPSMatrix.hpp"

namespace MPS {

// result = exp(x - max) / sum(exp(x - max)) in each row. The size of the work is sourceRows x sourceColumns where these
// are set, and the smaller of what the matrices have from their origins otherwise.
class _MPS_EXPORT MatrixSoftMax : public NS::Copying<MatrixSoftMax, MatrixUnaryKernel> {
 public:
  static MatrixSoftMax* alloc();
  MatrixSoftMax* init(MTL::Device* device);

  NS::UInteger sourceRows() const;
  void setSourceRows(NS::UInteger sourceRows);
  NS::UInteger sourceColumns() const;
  void setSourceColumns(NS::UInteger sourceColumns);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Matrix* resultMatrix);
};

// result = x - max - log(sum(exp(x - max))).
class _MPS_EXPORT MatrixLogSoftMax : public NS::Copying<MatrixLogSoftMax, MatrixSoftMax> {
 public:
  static MatrixLogSoftMax* alloc();
  MatrixLogSoftMax* init(MTL::Device* device);
};

// The gradient of a softmax from that of its result and the result itself.
class _MPS_EXPORT MatrixSoftMaxGradient : public NS::Copying<MatrixSoftMaxGradient, MatrixBinaryKernel> {
 public:
  static MatrixSoftMaxGradient* alloc();
  MatrixSoftMaxGradient* init(MTL::Device* device);

  NS::UInteger sourceRows() const;
  void setSourceRows(NS::UInteger sourceRows);
  NS::UInteger sourceColumns() const;
  void setSourceColumns(NS::UInteger sourceColumns);

  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix, const Matrix* forwardOutputMatrix,
              const Matrix* resultMatrix);
};

class _MPS_EXPORT MatrixLogSoftMaxGradient : public NS::Copying<MatrixLogSoftMaxGradient, MatrixSoftMaxGradient> {
 public:
  static MatrixLogSoftMaxGradient* alloc();
  MatrixLogSoftMaxGradient* init(MTL::Device* device);
};

}  // namespace MPS
