// Optimizers: how the parameters of a network follow the gradients of its loss.
//
// A gradient is first clipped to [gradientClipMin, gradientClipMax] where applyGradientClipping says so, then
// multiplied with gradientRescale; then the gradient of the regularization is added: regularizationScale times the sign
// of the value (L1) or times the value (L2). The result is `g` below. Vectors and matrices of one call have the same
// type and size, results may be the values themselves, and what is remembered (momentum, velocity, sum of squares) is
// updated in place; it begins with zeros, which is the program's to see to.
//
// With the states of a convolution, index 0 of the arrays is for weights and index 1 for biases; with those of a batch
// normalization, for gamma and beta. Where an array has one vector only, biases or beta stay as they are.
#pragma once

#include "MPSCNNBatchNormalization.hpp"
#include "MPSCNNConvolution.hpp"
#include "MPSMatrix.hpp"

namespace MPS {

_MPS_ENUM(NS::UInteger, NNRegularizationType){
    NNRegularizationTypeNone = 0,
    NNRegularizationTypeL1 = 1,
    NNRegularizationTypeL2 = 2,
};

class _MPS_EXPORT NNOptimizerDescriptor : public NS::Copying<NNOptimizerDescriptor> {
 public:
  static NNOptimizerDescriptor* optimizerDescriptor(float learningRate, float gradientRescale,
                                                    NNRegularizationType regularizationType, float regularizationScale);
  static NNOptimizerDescriptor* optimizerDescriptor(float learningRate, float gradientRescale,
                                                    bool applyGradientClipping, float gradientClipMax,
                                                    float gradientClipMin, NNRegularizationType regularizationType,
                                                    float regularizationScale);
  static NNOptimizerDescriptor* alloc();
  NNOptimizerDescriptor* init(float learningRate, float gradientRescale, NNRegularizationType regularizationType,
                              float regularizationScale);
  NNOptimizerDescriptor* init(float learningRate, float gradientRescale, bool applyGradientClipping,
                              float gradientClipMax, float gradientClipMin, NNRegularizationType regularizationType,
                              float regularizationScale);

  float learningRate() const;
  void setLearningRate(float learningRate);
  float gradientRescale() const;
  void setGradientRescale(float gradientRescale);
  bool applyGradientClipping() const;
  void setApplyGradientClipping(bool applyGradientClipping);
  float gradientClipMax() const;
  void setGradientClipMax(float gradientClipMax);
  float gradientClipMin() const;
  void setGradientClipMin(float gradientClipMin);
  float regularizationScale() const;
  void setRegularizationScale(float regularizationScale);
  NNRegularizationType regularizationType() const;
  void setRegularizationType(NNRegularizationType regularizationType);
};

class _MPS_EXPORT NNOptimizer : public NS::Copying<NNOptimizer, Kernel> {
 public:
  float learningRate() const;
  void setLearningRate(float learningRate);
  float gradientRescale() const;
  bool applyGradientClipping() const;
  void setApplyGradientClipping(bool applyGradientClipping);
  float gradientClipMax() const;
  float gradientClipMin() const;
  float regularizationScale() const;
  NNRegularizationType regularizationType() const;
};

// m = momentumScale * m + learningRate * g, value - m; with Nesterov's momentum m = momentumScale * m + g,
// value - learningRate * (g + momentumScale * m). Without a place for m, which a momentumScale of 0 needs not, value -
// learningRate * g.
class _MPS_EXPORT NNOptimizerStochasticGradientDescent
    : public NS::Copying<NNOptimizerStochasticGradientDescent, NNOptimizer> {
 public:
  static NNOptimizerStochasticGradientDescent* alloc();
  NNOptimizerStochasticGradientDescent* init(MTL::Device* device, float learningRate);
  NNOptimizerStochasticGradientDescent* init(MTL::Device* device, float momentumScale, bool useNesterovMomentum,
                                             const NNOptimizerDescriptor* optimizerDescriptor);

  float momentumScale() const;
  bool useNesterovMomentum() const;
  bool useNestrovMomentum() const;

  void encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector, const Vector* inputValuesVector,
              const Vector* inputMomentumVector, const Vector* resultValuesVector);
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix, const Matrix* inputValuesMatrix,
              const Matrix* inputMomentumMatrix, const Matrix* resultValuesMatrix);
  void encode(MTL::CommandBuffer* commandBuffer, const CNNConvolutionGradientState* convolutionGradientState,
              const CNNConvolutionWeightsAndBiasesState* convolutionSourceState, const NS::Array* inputMomentumVectors,
              const CNNConvolutionWeightsAndBiasesState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationState,
              const NS::Array* inputMomentumVectors, const CNNNormalizationGammaAndBetaState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationGradientState,
              CNNBatchNormalizationState* batchNormalizationSourceState, const NS::Array* inputMomentumVectors,
              const CNNNormalizationGammaAndBetaState* resultState);
};

// s = decay * s + (1 - decay) * g^2, value - learningRate * g / (sqrt(s) + epsilon).
class _MPS_EXPORT NNOptimizerRMSProp : public NS::Copying<NNOptimizerRMSProp, NNOptimizer> {
 public:
  static NNOptimizerRMSProp* alloc();
  NNOptimizerRMSProp* init(MTL::Device* device, float learningRate);
  NNOptimizerRMSProp* init(MTL::Device* device, double decay, float epsilon,
                           const NNOptimizerDescriptor* optimizerDescriptor);

  double decay() const;
  float epsilon() const;

  void encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector, const Vector* inputValuesVector,
              const Vector* inputSumOfSquaresVector, const Vector* resultValuesVector);
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix, const Matrix* inputValuesMatrix,
              const Matrix* inputSumOfSquaresMatrix, const Matrix* resultValuesMatrix);
  void encode(MTL::CommandBuffer* commandBuffer, const CNNConvolutionGradientState* convolutionGradientState,
              const CNNConvolutionWeightsAndBiasesState* convolutionSourceState,
              const NS::Array* inputSumOfSquaresVectors, const CNNConvolutionWeightsAndBiasesState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationState,
              const NS::Array* inputSumOfSquaresVectors, const CNNNormalizationGammaAndBetaState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationGradientState,
              CNNBatchNormalizationState* batchNormalizationSourceState, const NS::Array* inputSumOfSquaresVectors,
              const CNNNormalizationGammaAndBetaState* resultState);
};

// t = t + 1 with each encode; rate = learningRate * sqrt(1 - beta2^t) / (1 - beta1^t); m = beta1 * m + (1 - beta1) * g;
// v = beta2 * v + (1 - beta2) * g^2; value - rate * m / (sqrt(v) + epsilon). With a maximum velocity (AMSGrad), that is
// max(maximum, v), and takes the place of v in the root.
class _MPS_EXPORT NNOptimizerAdam : public NS::Copying<NNOptimizerAdam, NNOptimizer> {
 public:
  static NNOptimizerAdam* alloc();
  NNOptimizerAdam* init(MTL::Device* device, float learningRate);
  NNOptimizerAdam* init(MTL::Device* device, double beta1, double beta2, float epsilon, NS::UInteger timeStep,
                        const NNOptimizerDescriptor* optimizerDescriptor);

  double beta1() const;
  double beta2() const;
  float epsilon() const;
  NS::UInteger timeStep() const;
  void setTimeStep(NS::UInteger timeStep);

  void encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector, const Vector* inputValuesVector,
              const Vector* inputMomentumVector, const Vector* inputVelocityVector, const Vector* resultValuesVector);
  void encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector, const Vector* inputValuesVector,
              const Vector* inputMomentumVector, const Vector* inputVelocityVector, const Vector* maximumVelocityVector,
              const Vector* resultValuesVector);
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix, const Matrix* inputValuesMatrix,
              const Matrix* inputMomentumMatrix, const Matrix* inputVelocityMatrix, const Matrix* resultValuesMatrix);
  void encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix, const Matrix* inputValuesMatrix,
              const Matrix* inputMomentumMatrix, const Matrix* inputVelocityMatrix, const Matrix* maximumVelocityMatrix,
              const Matrix* resultValuesMatrix);
  void encode(MTL::CommandBuffer* commandBuffer, const CNNConvolutionGradientState* convolutionGradientState,
              const CNNConvolutionWeightsAndBiasesState* convolutionSourceState, const NS::Array* inputMomentumVectors,
              const NS::Array* inputVelocityVectors, const CNNConvolutionWeightsAndBiasesState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, const CNNConvolutionGradientState* convolutionGradientState,
              const CNNConvolutionWeightsAndBiasesState* convolutionSourceState, const NS::Array* inputMomentumVectors,
              const NS::Array* inputVelocityVectors, const NS::Array* maximumVelocityVectors,
              const CNNConvolutionWeightsAndBiasesState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationState,
              const NS::Array* inputMomentumVectors, const NS::Array* inputVelocityVectors,
              const CNNNormalizationGammaAndBetaState* resultState);
  void encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationGradientState,
              CNNBatchNormalizationState* batchNormalizationSourceState, const NS::Array* inputMomentumVectors,
              const NS::Array* inputVelocityVectors, const CNNNormalizationGammaAndBetaState* resultState);
};

}  // namespace MPS
