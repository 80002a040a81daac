// A neuron applied to each number of a matrix whose rows are feature vectors: y = neuron(alpha * x + bias).
#pragma once

#include "MPSCNNNeuronType.hpp"
#include "MPSMatrix.hpp"

namespace MPS {

// Works on the first sourceNumberOfFeatureVectors rows and sourceInputFeatureChannels columns from the origin on, or on
// as many as there are. The bias has a number for each column.
class _MPS_EXPORT MatrixNeuron : public NS::Copying<MatrixNeuron, MatrixUnaryKernel> {
 public:
  static MatrixNeuron* alloc();
  MatrixNeuron* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  double alpha() const;
  void setAlpha(double alpha);

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  // PReLU, with a float for each column.
  void setNeuronToPReLU(const NS::Data* parametersA);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // biasVector may be null.
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Vector* biasVector,
              const Matrix* resultMatrix);
};

// The gradients of a neuron's input and bias from that of its result.
class _MPS_EXPORT MatrixNeuronGradient : public NS::Copying<MatrixNeuronGradient, MatrixBinaryKernel> {
 public:
  static MatrixNeuronGradient* alloc();
  MatrixNeuronGradient* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  double alpha() const;
  void setAlpha(double alpha);

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  void setNeuronToPReLU(const NS::Data* parametersA);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // gradientMatrix is the primary source and inputMatrix the secondary; the vectors may be null.
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix, const Matrix* inputMatrix,
              const Vector* biasVector, const Matrix* resultGradientForDataMatrix,
              const Vector* resultGradientForBiasVector);
};

}  // namespace MPS
