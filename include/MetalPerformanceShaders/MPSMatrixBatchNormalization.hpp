// Batch normalisation of a matrix whose rows are feature vectors:
//
//   y = neuron(gamma * (x - mean) / sqrt(variance + epsilon) + beta)
//
// where mean, variance, gamma and beta have a number for each column.
#pragma once

#include "MPSCNNNeuronType.hpp"
#include "MPSMatrix.hpp"

namespace MPS {

class _MPS_EXPORT MatrixBatchNormalization : public NS::Copying<MatrixBatchNormalization, MatrixUnaryKernel> {
 public:
  static MatrixBatchNormalization* alloc();
  MatrixBatchNormalization* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  float epsilon() const;
  void setEpsilon(float epsilon);
  // Whether mean and variance (of the population) are found from the rows, and written to the vectors, or given there.
  bool computeStatistics() const;
  void setComputeStatistics(bool computeStatistics);

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // gammaVector (1) and betaVector (0) may be null.
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputMatrix, const Vector* meanVector,
              const Vector* varianceVector, const Vector* gammaVector, const Vector* betaVector,
              const Matrix* resultMatrix);
};

// The gradients of batch normalisation whose mean and variance are those of the rows. gradientMatrix is the primary
// source, and inputMatrix the secondary.
class _MPS_EXPORT MatrixBatchNormalizationGradient
    : public NS::Copying<MatrixBatchNormalizationGradient, MatrixBinaryKernel> {
 public:
  static MatrixBatchNormalizationGradient* alloc();
  MatrixBatchNormalizationGradient* init(MTL::Device* device);

  NS::UInteger sourceNumberOfFeatureVectors() const;
  void setSourceNumberOfFeatureVectors(NS::UInteger count);
  NS::UInteger sourceInputFeatureChannels() const;
  void setSourceInputFeatureChannels(NS::UInteger count);
  float epsilon() const;
  void setEpsilon(float epsilon);

  void setNeuronType(CNNNeuronType neuronType, float parameterA, float parameterB, float parameterC);
  CNNNeuronType neuronType() const;
  float neuronParameterA() const;
  float neuronParameterB() const;
  float neuronParameterC() const;

  // gammaVector and betaVector are as they were in the forward pass; the gradients for them may be null.
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* gradientMatrix, const Matrix* inputMatrix,
              const Vector* meanVector, const Vector* varianceVector, const Vector* gammaVector,
              const Vector* betaVector, const Matrix* resultGradientForDataMatrix,
              const Vector* resultGradientForGammaVector, const Vector* resultGradientForBetaVector);
};

}  // namespace MPS
