// A fully connected layer on matrices whose rows are feature vectors: y = neuron(alpha * x * W + bias).
#pragma once

#include "MPSCNNNeuronType.hpp"
#include "MPSMatrix.hpp"

namespace MPS {

// inputMatrix is the primary source and weightMatrix the secondary. Sizes that are not set are those of the matrices.
class _MPS_EXPORT MatrixFullyConnected : public NS::Copying<MatrixFullyConnected, MatrixBinaryKernel> {
 public:
  static MatrixFullyConnected* alloc();
  MatrixFullyConnected* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  NS::UInteger sourceOutputFeatureChannels() const;
  void setSourceOutputFeatureChannels(NS::UInteger count);
  double alpha() const;
  void setAlpha(double alpha);

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // biasVector may be null.
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Matrix* weightMatrix,
              const Vector* biasVector, const Matrix* resultMatrix);
};

// The gradients of such a layer without its neuron, whose own gradient MatrixNeuronGradient gives. gradientMatrix is
// the primary source, and the other one the secondary.
class _MPS_EXPORT MatrixFullyConnectedGradient : public NS::Copying<MatrixFullyConnectedGradient, MatrixBinaryKernel> {
 public:
  static MatrixFullyConnectedGradient* alloc();
  MatrixFullyConnectedGradient* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceOutputFeatureChannels() const;
  void setSourceOutputFeatureChannels(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  double alpha() const;
  void setAlpha(double alpha);

  void encodeGradientForData(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix,
                             const Matrix* weightMatrix, const Matrix* resultGradientForDataMatrix);
  // resultGradientForBiasVector may be null.
  void encodeGradientForWeightsAndBias(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix,
                                       const Matrix* inputMatrix, const Matrix* resultGradientForWeightMatrix,
                                       const Vector* resultGradientForBiasVector);
};

}  // namespace MPS
