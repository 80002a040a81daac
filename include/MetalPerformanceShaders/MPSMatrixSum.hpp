// The sum of many matrices: result = neuron(sum of scale[i] * source[i] + bias).
#pragma once

#include "MPSCNNNeuronType.hpp"
#include "MPSMatrix.hpp"

namespace MPS {

// Where in a source the numbers to be added begin.
struct MatrixOffset {
  uint32_t rowOffset;
  uint32_t columnOffset;
};

class _MPS_EXPORT MatrixSum : public NS::Copying<MatrixSum, Kernel> {
 public:
  static MatrixSum* alloc();
  // Sums of `count` matrices, of rows x columns; where `transpose` is set, what is added is the transpose of what the
  // sources hold.
  MatrixSum* init(MTL::Device* device, NS::UInteger count, NS::UInteger rows, NS::UInteger columns, bool transpose);

  NS::UInteger count() const;
  NS::UInteger rows() const;
  NS::UInteger columns() const;
  bool transpose() const;

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // scaleVector holds Float32 and offsetVector MatrixOffsets as UInt32, both from startIndex on; each vector may be
  // null.
  void encode(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices, const Matrix* resultMatrix,
              const Vector* scaleVector, const Vector* offsetVector, const Vector* biasVector, NS::UInteger startIndex);
};

}  // namespace MPS
