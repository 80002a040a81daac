// Gradient descent, RMSProp and Adam: the factors of each one's update.
#include <cmath>

#include "mps/core/counter.hpp"
#include "mps/cnn/optimizer.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class GradientDescentPart : public OptimizerPart {
 public:
  float momentum_scale = 0;
  bool nesterov = false;

  UpdateFactors factors(bool has_momentum) const {
    return {.kind = !has_momentum ? OptimizerKind::plain
                    : nesterov    ? OptimizerKind::nesterov
                                  : OptimizerKind::momentum,
            .learning_rate = treatment.learning_rate,
            .keep_first = momentum_scale};
  }
};

class RmsPropPart : public OptimizerPart {
 public:
  double decay = 0.9;
  float epsilon = 1e-8f;

  UpdateFactors factors() const {
    return {.kind = OptimizerKind::rms_prop,
            .learning_rate = treatment.learning_rate,
            .keep_first = decay,
            .epsilon = epsilon};
  }
};

class AdamPart : public OptimizerPart {
 public:
  double beta1 = 0.9, beta2 = 0.999;
  float epsilon = 1e-8f;
  Counter time_step;

  UpdateFactors next_factors(bool has_maximum) {
    const double t = double(time_step.take(1) + 1);
    const double rate = treatment.learning_rate * std::sqrt(1 - std::pow(beta2, t)) / (1 - std::pow(beta1, t));
    return {.kind = has_maximum ? OptimizerKind::ams_grad : OptimizerKind::adam,
            .learning_rate = float(rate),
            .keep_first = beta1,
            .keep_second = beta2,
            .epsilon = epsilon};
  }
};

namespace {

using GradientDescentObject = Object<MPS::NNOptimizerStochasticGradientDescent, GradientDescentPart>;
using RmsPropObject = Object<MPS::NNOptimizerRMSProp, RmsPropPart>;
using AdamObject = Object<MPS::NNOptimizerAdam, AdamPart>;

template <class Interface, class Part>
Interface* init(Interface* kernel, Part* self, MTL::Device* device, const MPS::NNOptimizerDescriptor* descriptor,
                const char* call) {
  const auto* described = shared_part_of<OptimizerDescriptorPart>(descriptor);
  if (kernel && !described) {
    foundation::report_misuse(call, "optimizerDescriptor is null");
    return foundation::failed_init(kernel);
  }
  if (self) self->treatment = described->treatment;
  return init_kernel(kernel, self, device, call);
}

template <class Interface, class Part>
Interface* init(Interface* kernel, Part* self, MTL::Device* device, float learning_rate, const char* call) {
  if (self) self->treatment.learning_rate = learning_rate;
  return init_kernel(kernel, self, device, call);
}

void encode_descent(MPS::NNOptimizerStochasticGradientDescent* kernel, MTL::CommandBuffer* command_buffer,
                    const auto* gradient, const auto* values, const auto* momentum, const auto* result,
                    const char* name) {
  const auto* self = part_of<GradientDescentPart>(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, "MPS::NNOptimizerStochasticGradientDescent::encode");
  if (!encoding) return;
  if (!momentum && self->momentum_scale != 0)
    return encoding.fail(fmt::format("{} is null, and momentumScale is {}", name, self->momentum_scale));
  encode_update(encoding, *self, self->factors(momentum != nullptr), gradient, values, {momentum}, result, {{name}, 0});
}

void encode_rms_prop(MPS::NNOptimizerRMSProp* kernel, MTL::CommandBuffer* command_buffer, const auto* gradient,
                     const auto* values, const auto* squares, const auto* result, const char* name) {
  const auto* self = part_of<RmsPropPart>(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, "MPS::NNOptimizerRMSProp::encode");
  if (encoding) encode_update(encoding, *self, self->factors(), gradient, values, {squares}, result, {{name}, 1});
}

void encode_adam(MPS::NNOptimizerAdam* kernel, MTL::CommandBuffer* command_buffer, const auto* gradient,
                 const auto* values, const auto* momentum, const auto* velocity, const auto* maximum,
                 const auto* result, const std::array<const char*, 3>& names) {
  auto* self = part_of<AdamPart>(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, "MPS::NNOptimizerAdam::encode");
  if (encoding)
    encode_update(encoding, *self, self->next_factors(maximum != nullptr), gradient, values,
                  {momentum, velocity, maximum}, result, {names, 2});
}

constexpr std::array<const char*, 3> adam_vectors = {"inputMomentumVector", "inputVelocityVector",
                                                     "maximumVelocityVector"};
constexpr std::array<const char*, 3> adam_matrices = {"inputMomentumMatrix", "inputVelocityMatrix",
                                                      "maximumVelocityMatrix"};
constexpr std::array<const char*, 3> adam_arrays = {"inputMomentumVectors", "inputVelocityVectors",
                                                    "maximumVelocityVectors"};

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NNOptimizerStochasticGradientDescent* NNOptimizerStochasticGradientDescent::alloc() {
  return new GradientDescentObject("MPSNNOptimizerStochasticGradientDescent");
}
NNOptimizerStochasticGradientDescent* NNOptimizerStochasticGradientDescent::init(MTL::Device* device,
                                                                                 float learningRate) {
  return mps::init(this, part_of<GradientDescentPart>(this), device, learningRate,
                   "-[MPSNNOptimizerStochasticGradientDescent initWithDevice:learningRate:]");
}
NNOptimizerStochasticGradientDescent* NNOptimizerStochasticGradientDescent::init(
    MTL::Device* device, float momentumScale, bool useNesterovMomentum,
    const NNOptimizerDescriptor* optimizerDescriptor) {
  if (auto* self = part_of<GradientDescentPart>(this)) {
    self->momentum_scale = momentumScale;
    self->nesterov = useNesterovMomentum;
  }
  return mps::init(this, part_of<GradientDescentPart>(this), device, optimizerDescriptor,
                   "-[MPSNNOptimizerStochasticGradientDescent initWithDevice:momentumScale:…]");
}

MPS_READONLY(NNOptimizerStochasticGradientDescent, GradientDescentPart, float, momentumScale, momentum_scale, (0))
MPS_READONLY(NNOptimizerStochasticGradientDescent, GradientDescentPart, bool, useNesterovMomentum, nesterov, (false))
MPS_READONLY(NNOptimizerStochasticGradientDescent, GradientDescentPart, bool, useNestrovMomentum, nesterov, (false))

void NNOptimizerStochasticGradientDescent::encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector,
                                                  const Vector* inputValuesVector, const Vector* inputMomentumVector,
                                                  const Vector* resultValuesVector) {
  encode_descent(this, commandBuffer, inputGradientVector, inputValuesVector, inputMomentumVector, resultValuesVector,
                 "inputMomentumVector");
}
void NNOptimizerStochasticGradientDescent::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix,
                                                  const Matrix* inputValuesMatrix, const Matrix* inputMomentumMatrix,
                                                  const Matrix* resultValuesMatrix) {
  encode_descent(this, commandBuffer, inputGradientMatrix, inputValuesMatrix, inputMomentumMatrix, resultValuesMatrix,
                 "inputMomentumMatrix");
}
void NNOptimizerStochasticGradientDescent::encode(MTL::CommandBuffer* commandBuffer,
                                                  const CNNConvolutionGradientState* convolutionGradientState,
                                                  const CNNConvolutionWeightsAndBiasesState* convolutionSourceState,
                                                  const NS::Array* inputMomentumVectors,
                                                  const CNNConvolutionWeightsAndBiasesState* resultState) {
  encode_descent(this, commandBuffer, convolutionGradientState, convolutionSourceState, inputMomentumVectors,
                 resultState, "inputMomentumVectors");
}
void NNOptimizerStochasticGradientDescent::encode(MTL::CommandBuffer* commandBuffer,
                                                  CNNBatchNormalizationState* batchNormalizationState,
                                                  const NS::Array* inputMomentumVectors,
                                                  const CNNNormalizationGammaAndBetaState* resultState) {
  encode(commandBuffer, batchNormalizationState, batchNormalizationState, inputMomentumVectors, resultState);
}
void NNOptimizerStochasticGradientDescent::encode(MTL::CommandBuffer* commandBuffer,
                                                  CNNBatchNormalizationState* batchNormalizationGradientState,
                                                  CNNBatchNormalizationState* batchNormalizationSourceState,
                                                  const NS::Array* inputMomentumVectors,
                                                  const CNNNormalizationGammaAndBetaState* resultState) {
  encode_descent(this, commandBuffer, batchNormalizationGradientState, batchNormalizationSourceState,
                 inputMomentumVectors, resultState, "inputMomentumVectors");
}

NNOptimizerRMSProp* NNOptimizerRMSProp::alloc() {
  return new RmsPropObject("MPSNNOptimizerRMSProp");
}
NNOptimizerRMSProp* NNOptimizerRMSProp::init(MTL::Device* device, float learningRate) {
  return mps::init(this, part_of<RmsPropPart>(this), device, learningRate,
                   "-[MPSNNOptimizerRMSProp initWithDevice:learningRate:]");
}
NNOptimizerRMSProp* NNOptimizerRMSProp::init(MTL::Device* device, double decay, float epsilon,
                                             const NNOptimizerDescriptor* optimizerDescriptor) {
  if (auto* self = part_of<RmsPropPart>(this)) {
    self->decay = decay;
    self->epsilon = epsilon;
  }
  return mps::init(this, part_of<RmsPropPart>(this), device, optimizerDescriptor,
                   "-[MPSNNOptimizerRMSProp initWithDevice:decay:epsilon:optimizerDescriptor:]");
}

MPS_READONLY(NNOptimizerRMSProp, RmsPropPart, double, decay, decay, (0))
MPS_READONLY(NNOptimizerRMSProp, RmsPropPart, float, epsilon, epsilon, (0))

void NNOptimizerRMSProp::encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector,
                                const Vector* inputValuesVector, const Vector* inputSumOfSquaresVector,
                                const Vector* resultValuesVector) {
  encode_rms_prop(this, commandBuffer, inputGradientVector, inputValuesVector, inputSumOfSquaresVector,
                  resultValuesVector, "inputSumOfSquaresVector");
}
void NNOptimizerRMSProp::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix,
                                const Matrix* inputValuesMatrix, const Matrix* inputSumOfSquaresMatrix,
                                const Matrix* resultValuesMatrix) {
  encode_rms_prop(this, commandBuffer, inputGradientMatrix, inputValuesMatrix, inputSumOfSquaresMatrix,
                  resultValuesMatrix, "inputSumOfSquaresMatrix");
}
void NNOptimizerRMSProp::encode(MTL::CommandBuffer* commandBuffer,
                                const CNNConvolutionGradientState* convolutionGradientState,
                                const CNNConvolutionWeightsAndBiasesState* convolutionSourceState,
                                const NS::Array* inputSumOfSquaresVectors,
                                const CNNConvolutionWeightsAndBiasesState* resultState) {
  encode_rms_prop(this, commandBuffer, convolutionGradientState, convolutionSourceState, inputSumOfSquaresVectors,
                  resultState, "inputSumOfSquaresVectors");
}
void NNOptimizerRMSProp::encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationState,
                                const NS::Array* inputSumOfSquaresVectors,
                                const CNNNormalizationGammaAndBetaState* resultState) {
  encode(commandBuffer, batchNormalizationState, batchNormalizationState, inputSumOfSquaresVectors, resultState);
}
void NNOptimizerRMSProp::encode(MTL::CommandBuffer* commandBuffer,
                                CNNBatchNormalizationState* batchNormalizationGradientState,
                                CNNBatchNormalizationState* batchNormalizationSourceState,
                                const NS::Array* inputSumOfSquaresVectors,
                                const CNNNormalizationGammaAndBetaState* resultState) {
  encode_rms_prop(this, commandBuffer, batchNormalizationGradientState, batchNormalizationSourceState,
                  inputSumOfSquaresVectors, resultState, "inputSumOfSquaresVectors");
}

NNOptimizerAdam* NNOptimizerAdam::alloc() {
  return new AdamObject("MPSNNOptimizerAdam");
}
NNOptimizerAdam* NNOptimizerAdam::init(MTL::Device* device, float learningRate) {
  return mps::init(this, part_of<AdamPart>(this), device, learningRate,
                   "-[MPSNNOptimizerAdam initWithDevice:learningRate:]");
}
NNOptimizerAdam* NNOptimizerAdam::init(MTL::Device* device, double beta1, double beta2, float epsilon,
                                       NS::UInteger timeStep, const NNOptimizerDescriptor* optimizerDescriptor) {
  if (auto* self = part_of<AdamPart>(this)) {
    self->beta1 = beta1;
    self->beta2 = beta2;
    self->epsilon = epsilon;
    self->time_step.set(timeStep);
  }
  return mps::init(this, part_of<AdamPart>(this), device, optimizerDescriptor,
                   "-[MPSNNOptimizerAdam initWithDevice:beta1:beta2:epsilon:timeStep:optimizerDescriptor:]");
}

MPS_READONLY(NNOptimizerAdam, AdamPart, double, beta1, beta1, (0))
MPS_READONLY(NNOptimizerAdam, AdamPart, double, beta2, beta2, (0))
MPS_READONLY(NNOptimizerAdam, AdamPart, float, epsilon, epsilon, (0))
MPS_READONLY(NNOptimizerAdam, AdamPart, NS::UInteger, timeStep, time_step.count(), (0))
void NNOptimizerAdam::setTimeStep(NS::UInteger timeStep) {
  if (auto* self = part_of<AdamPart>(this)) self->time_step.set(timeStep);
}

void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector,
                             const Vector* inputValuesVector, const Vector* inputMomentumVector,
                             const Vector* inputVelocityVector, const Vector* resultValuesVector) {
  encode(commandBuffer, inputGradientVector, inputValuesVector, inputMomentumVector, inputVelocityVector, nullptr,
         resultValuesVector);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer, const Vector* inputGradientVector,
                             const Vector* inputValuesVector, const Vector* inputMomentumVector,
                             const Vector* inputVelocityVector, const Vector* maximumVelocityVector,
                             const Vector* resultValuesVector) {
  encode_adam(this, commandBuffer, inputGradientVector, inputValuesVector, inputMomentumVector, inputVelocityVector,
              maximumVelocityVector, resultValuesVector, adam_vectors);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix,
                             const Matrix* inputValuesMatrix, const Matrix* inputMomentumMatrix,
                             const Matrix* inputVelocityMatrix, const Matrix* resultValuesMatrix) {
  encode(commandBuffer, inputGradientMatrix, inputValuesMatrix, inputMomentumMatrix, inputVelocityMatrix, nullptr,
         resultValuesMatrix);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer, const Matrix* inputGradientMatrix,
                             const Matrix* inputValuesMatrix, const Matrix* inputMomentumMatrix,
                             const Matrix* inputVelocityMatrix, const Matrix* maximumVelocityMatrix,
                             const Matrix* resultValuesMatrix) {
  encode_adam(this, commandBuffer, inputGradientMatrix, inputValuesMatrix, inputMomentumMatrix, inputVelocityMatrix,
              maximumVelocityMatrix, resultValuesMatrix, adam_matrices);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer,
                             const CNNConvolutionGradientState* convolutionGradientState,
                             const CNNConvolutionWeightsAndBiasesState* convolutionSourceState,
                             const NS::Array* inputMomentumVectors, const NS::Array* inputVelocityVectors,
                             const CNNConvolutionWeightsAndBiasesState* resultState) {
  encode(commandBuffer, convolutionGradientState, convolutionSourceState, inputMomentumVectors, inputVelocityVectors,
         nullptr, resultState);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer,
                             const CNNConvolutionGradientState* convolutionGradientState,
                             const CNNConvolutionWeightsAndBiasesState* convolutionSourceState,
                             const NS::Array* inputMomentumVectors, const NS::Array* inputVelocityVectors,
                             const NS::Array* maximumVelocityVectors,
                             const CNNConvolutionWeightsAndBiasesState* resultState) {
  encode_adam(this, commandBuffer, convolutionGradientState, convolutionSourceState, inputMomentumVectors,
              inputVelocityVectors, maximumVelocityVectors, resultState, adam_arrays);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer, CNNBatchNormalizationState* batchNormalizationState,
                             const NS::Array* inputMomentumVectors, const NS::Array* inputVelocityVectors,
                             const CNNNormalizationGammaAndBetaState* resultState) {
  encode(commandBuffer, batchNormalizationState, batchNormalizationState, inputMomentumVectors, inputVelocityVectors,
         resultState);
}
void NNOptimizerAdam::encode(MTL::CommandBuffer* commandBuffer,
                             CNNBatchNormalizationState* batchNormalizationGradientState,
                             CNNBatchNormalizationState* batchNormalizationSourceState,
                             const NS::Array* inputMomentumVectors, const NS::Array* inputVelocityVectors,
                             const CNNNormalizationGammaAndBetaState* resultState) {
  encode_adam(this, commandBuffer, batchNormalizationGradientState, batchNormalizationSourceState, inputMomentumVectors,
              inputVelocityVectors, static_cast<const NS::Array*>(nullptr), resultState, adam_arrays);
}

}  // namespace MPS
