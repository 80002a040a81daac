#include "mps/cnn/optimizer.hpp"

#include "foundation/array.hpp"
#include "mps/cnn/batch_normalization.hpp"
#include "mps/cnn/convolution.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/core/state.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

// As kernels/optimizers.metal has it.
struct KernelUpdate {
  float learning_rate, rescale, clip_min, clip_max, regularization_scale;
  float keep_first, add_first, keep_second, add_second, epsilon;
  RowStrides gradient, values, result, first, second, third;
};

void dispatch(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors, const Update& update) {
  const GradientTreatment& treatment = self.treatment;
  const auto& [first, second, third] = update.remembered;
  const KernelUpdate numbers{factors.learning_rate,
                             treatment.rescale,
                             treatment.clip_min,
                             treatment.clip_max,
                             treatment.regularization_scale,
                             float(factors.keep_first),
                             float(1 - factors.keep_first),
                             float(factors.keep_second),
                             float(1 - factors.keep_second),
                             factors.epsilon,
                             update.gradient.strides,
                             update.values.strides,
                             update.result.strides,
                             first.strides,
                             second.strides,
                             third.strides};
  const MatrixView& size = update.result;
  encoding.dispatch({fmt::format("optimizer_{}", metal_name_of(size.type)),
                     {uint32_t(factors.kind), uint32_t(treatment.regularization), uint32_t(treatment.clips)}},
                    MTL::Size(size.columns, size.rows, size.matrices), threads_along_row(size.columns),
                    update.gradient.first, update.values.first, size.first, first.first, second.first, third.first,
                    numbers);
}

// Floats that belong to a state.
struct StateNumbers {
  MTL::Buffer* buffer = nullptr;
  size_t count = 0;
};

// Looks at the arguments one by one; all are as large as the gradient and of its type.
class UpdateArguments {
 public:
  Arguments arguments;

  explicit UpdateArguments(const Encoding& encoding) : arguments(encoding) {}

  MatrixView view(const MPS::Matrix* matrix, const char* name) {
    return arguments.matrix(matrix, MTL::Origin(0, 0, 0), name);
  }
  MatrixView view(const MPS::Vector* vector, const char* name) {
    const VectorView found = arguments.vector(vector, 0, name);
    if (!found) return {};
    const size_t number = bits_of(found.type) / 8;
    arguments.require(number > 0, "{} has the type {}, which this kernel does not take", name, name_of(found.type));
    if (!arguments) return {};
    return {.first = found.first,
            .rows = found.object->vectors,
            .columns = found.length,
            .matrices = 1,
            .strides = {found.object->vector_bytes / number, 0},
            .type = found.type};
  }
  MatrixView view(const StateNumbers* numbers, const char* name) {
    arguments.require(numbers->buffer != nullptr, "{} has no memory", name);
    return {.object = nullptr,
            .first = {numbers->buffer, 0},
            .rows = 1,
            .columns = numbers->count,
            .matrices = 1,
            .strides = {},
            .type = MPS::DataTypeFloat32};
  }

  template <class Numbers>
  MatrixView gradient(Numbers* numbers, const char* name) {
    size_ = view(numbers, name);
    arguments.is_floating_point(size_.type, name);
    return size_;
  }
  template <class Numbers>
  MatrixView other(Numbers* numbers, const char* name) {
    MatrixView found = view(numbers, name);
    arguments.is_of_type(found.type, size_.type, name);
    arguments.require(found.columns >= size_.columns && found.rows >= size_.rows && found.matrices >= size_.matrices,
                      "{} is smaller than the gradient, which has {} x {} numbers", name, size_.rows, size_.columns);
    found.rows = size_.rows;
    found.columns = size_.columns;
    found.matrices = size_.matrices;
    return found;
  }
  template <class Numbers>
  std::array<MatrixView, 3> remembered(const std::array<Numbers*, 3>& numbers, const RememberedNames& names) {
    std::array<MatrixView, 3> views;
    for (size_t i = 0; i < views.size(); ++i)
      if (names.names[i] && (numbers[i] || i < names.required)) views[i] = other(numbers[i], names.names[i]);
    return views;
  }

 private:
  MatrixView size_;
};

template <class Numbers>
void encode(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors, const Numbers* gradient,
            const Numbers* values, const RememberedNumbers<Numbers>& remembered, const Numbers* result,
            const RememberedNames& names, std::array<const char*, 3> call_names) {
  UpdateArguments check(encoding);
  Update update;
  update.gradient = check.gradient(gradient, call_names[0]);
  update.values = check.other(values, call_names[1]);
  update.remembered = check.remembered(remembered, names);
  update.result = check.other(result, call_names[2]);
  if (!encoding.check(check.arguments.status())) return;
  dispatch(encoding, self, factors, update);
  body(gradient)->was_read();
  body(values)->was_read();
}

// The buffer at an index of a state's; the buffer may be larger than the state knows.
StateNumbers numbers_at(StatePart& state, size_t index) {
  if (index >= state.resources.size()) return {};
  return {state.buffer(index), state.resources[index].buffer_bytes / sizeof(float)};
}

template <class Part>
Part* part_of_state(const MPS::State* state) {
  return shared_part_of<Part>(const_cast<MPS::State*>(state));
}

// An update of two lists: weights and biases, or gamma and beta. The second is left alone where an argument lacks it.
struct StateUpdate {
  std::array<StateNumbers, 2> gradient, values, result;
  std::array<const char*, 3> names;  // of the arguments with these
};

void encode_state_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                         const StateUpdate& states, const RememberedNumbers<NS::Array>& remembered,
                         const RememberedNames& names) {
  for (const size_t index : {0, 1}) {
    bool has_all = states.values[index].buffer && states.result[index].buffer;
    for (const NS::Array* vectors : remembered) has_all &= !vectors || index < vectors->count();
    if (!has_all && index == 1) break;
    RememberedNumbers<MPS::Vector> vectors = {};
    for (size_t i = 0; i < vectors.size(); ++i)
      if (remembered[i] && index < remembered[i]->count())
        vectors[i] = foundation::element_of<MPS::Vector>(remembered[i], index);
    UpdateArguments check(encoding);
    Update update;
    update.gradient = check.gradient(&states.gradient[index], states.names[0]);
    update.values = check.other(&states.values[index], states.names[1]);
    update.remembered = check.remembered(vectors, names);
    update.result = check.other(&states.result[index], states.names[2]);
    if (!encoding.check(check.arguments.status())) return;
    dispatch(encoding, self, factors, update);
  }
}

}  // namespace

void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::Vector* gradient, const MPS::Vector* values,
                   const RememberedNumbers<MPS::Vector>& remembered, const MPS::Vector* result,
                   const RememberedNames& names) {
  encode(encoding, self, factors, gradient, values, remembered, result, names,
         {"inputGradientVector", "inputValuesVector", "resultValuesVector"});
}

void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::Matrix* gradient, const MPS::Matrix* values,
                   const RememberedNumbers<MPS::Matrix>& remembered, const MPS::Matrix* result,
                   const RememberedNames& names) {
  encode(encoding, self, factors, gradient, values, remembered, result, names,
         {"inputGradientMatrix", "inputValuesMatrix", "resultValuesMatrix"});
}

void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::CNNConvolutionGradientState* gradient_state,
                   const MPS::CNNConvolutionWeightsAndBiasesState* source_state,
                   const RememberedNumbers<NS::Array>& remembered,
                   const MPS::CNNConvolutionWeightsAndBiasesState* result_state, const RememberedNames& names) {
  auto* gradient = part_of_state<StatePart>(gradient_state);
  auto* source = part_of_state<StatePart>(source_state);
  auto* result = part_of_state<StatePart>(result_state);
  if (!gradient) return encoding.fail("convolutionGradientState is null");
  if (!source) return encoding.fail("convolutionSourceState is null");
  if (!result) return encoding.fail("resultState is null");
  encode_state_update(encoding, self, factors,
                      {.gradient = {numbers_at(*gradient, weights_index), numbers_at(*gradient, biases_index)},
                       .values = {numbers_at(*source, weights_index), numbers_at(*source, biases_index)},
                       .result = {numbers_at(*result, weights_index), numbers_at(*result, biases_index)},
                       .names = {"convolutionGradientState", "convolutionSourceState", "resultState"}},
                      remembered, names);
  gradient->was_read();
  source->was_read();
}

void encode_update(Encoding& encoding, const OptimizerPart& self, const UpdateFactors& factors,
                   const MPS::CNNBatchNormalizationState* gradient_state,
                   const MPS::CNNBatchNormalizationState* source_state, const RememberedNumbers<NS::Array>& remembered,
                   const MPS::CNNNormalizationGammaAndBetaState* result_state, const RememberedNames& names) {
  auto* gradient = part_of_state<BatchNormalizationStatePart>(gradient_state);
  const auto* source = part_of_state<BatchNormalizationStatePart>(source_state);
  auto* result = part_of_state<StatePart>(result_state);
  if (!gradient || !source) return encoding.fail("a batchNormalizationState is null");
  if (!result) return encoding.fail("resultState is null");
  encode_state_update(encoding, self, factors,
                      {.gradient = {numbers_at(*gradient, BatchNormalizationStatePart::gamma_gradient_index),
                                    numbers_at(*gradient, BatchNormalizationStatePart::beta_gradient_index)},
                       .values = {StateNumbers{source->gamma_and_beta.first.get(), source->channels},
                                  StateNumbers{source->gamma_and_beta.second.get(), source->channels}},
                       .result = {numbers_at(*result, 0), numbers_at(*result, 1)},
                       .names = {"batchNormalizationGradientState", "batchNormalizationSourceState", "resultState"}},
                      remembered, names);
  gradient->was_read();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NNOptimizerDescriptor* NNOptimizerDescriptor::alloc() {
  return new mps::Object<NNOptimizerDescriptor, OptimizerDescriptorPart>("MPSNNOptimizerDescriptor");
}

NNOptimizerDescriptor* NNOptimizerDescriptor::init(float learningRate, float gradientRescale,
                                                   NNRegularizationType regularizationType, float regularizationScale) {
  return init(learningRate, gradientRescale, false, 0, 0, regularizationType, regularizationScale);
}

NNOptimizerDescriptor* NNOptimizerDescriptor::init(float learningRate, float gradientRescale,
                                                   bool applyGradientClipping, float gradientClipMax,
                                                   float gradientClipMin, NNRegularizationType regularizationType,
                                                   float regularizationScale) {
  if (auto* self = shared_part_of<OptimizerDescriptorPart>(this))
    self->treatment = {.learning_rate = learningRate,
                       .rescale = gradientRescale,
                       .clips = applyGradientClipping,
                       .clip_max = gradientClipMax,
                       .clip_min = gradientClipMin,
                       .regularization = regularizationType,
                       .regularization_scale = regularizationScale};
  return this;
}

NNOptimizerDescriptor* NNOptimizerDescriptor::optimizerDescriptor(float learningRate, float gradientRescale,
                                                                  NNRegularizationType regularizationType,
                                                                  float regularizationScale) {
  return foundation::autoreleased(
      alloc()->init(learningRate, gradientRescale, regularizationType, regularizationScale));
}

NNOptimizerDescriptor* NNOptimizerDescriptor::optimizerDescriptor(float learningRate, float gradientRescale,
                                                                  bool applyGradientClipping, float gradientClipMax,
                                                                  float gradientClipMin,
                                                                  NNRegularizationType regularizationType,
                                                                  float regularizationScale) {
  return foundation::autoreleased(alloc()->init(learningRate, gradientRescale, applyGradientClipping, gradientClipMax,
                                                gradientClipMin, regularizationType, regularizationScale));
}

#define DESCRIBED(Type, getter, setter, member) \
  MPS_PROPERTY(NNOptimizerDescriptor, OptimizerDescriptorPart, Type, getter, setter, treatment.member, ())
DESCRIBED(float, learningRate, setLearningRate, learning_rate)
DESCRIBED(float, gradientRescale, setGradientRescale, rescale)
DESCRIBED(bool, applyGradientClipping, setApplyGradientClipping, clips)
DESCRIBED(float, gradientClipMax, setGradientClipMax, clip_max)
DESCRIBED(float, gradientClipMin, setGradientClipMin, clip_min)
DESCRIBED(float, regularizationScale, setRegularizationScale, regularization_scale)
DESCRIBED(NNRegularizationType, regularizationType, setRegularizationType, regularization)

MPS_PROPERTY(NNOptimizer, OptimizerPart, float, learningRate, setLearningRate, treatment.learning_rate, (0))
MPS_PROPERTY(NNOptimizer, OptimizerPart, bool, applyGradientClipping, setApplyGradientClipping, treatment.clips,
             (false))
MPS_READONLY(NNOptimizer, OptimizerPart, float, gradientRescale, treatment.rescale, (0))
MPS_READONLY(NNOptimizer, OptimizerPart, float, gradientClipMax, treatment.clip_max, (0))
MPS_READONLY(NNOptimizer, OptimizerPart, float, gradientClipMin, treatment.clip_min, (0))
MPS_READONLY(NNOptimizer, OptimizerPart, float, regularizationScale, treatment.regularization_scale, (0))
MPS_READONLY(NNOptimizer, OptimizerPart, NNRegularizationType, regularizationType, treatment.regularization,
             (NNRegularizationTypeNone))

}  // namespace MPS
