#include "mps/cnn/batch_normalization.hpp"

#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/layer_neuron.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

NS::SharedPtr<MPS::State> BatchNormalizationPart::new_state() const {
  auto* state =
      new Object<MPS::CNNBatchNormalizationState, BatchNormalizationStatePart>("MPSCNNBatchNormalizationState");
  auto* self = const_cast<BatchNormalizationPart*>(this);
  state->made_by = NS::RetainPtr(dynamic_cast<MPS::CNNBatchNormalization*>(self));
  state->gamma_and_beta = gamma_and_beta;
  state->given_mean_and_variance = mean_and_variance;
  state->channels = channels;
  state->BatchNormalizationStatePart::epsilon = epsilon;
  for (int i = 0; i < 4; ++i) state->add_buffer(channels * sizeof(float));
  return NS::TransferPtr<MPS::State>(state);
}

Status BatchNormalizationPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor& result = task.destination;
  if (result.channels > channels)
    return Error{fmt::format("sourceImage has {} channels, and the data source {}", result.channels, channels)};
  if (auto status = check_neuron(neuron, result.channels); !status) return status;
  auto* state = task.states.empty() ? nullptr : shared_part_of<BatchNormalizationStatePart>(task.states.front());
  if (!task.states.empty() && !state) return Error{"the state is no state of a batch normalization"};
  if (state) state->epsilon = epsilon;
  encode_normalization(encoding,
                       {.mean = {state ? state->mean() : mean_and_variance.first.get()},
                        .variance = {state ? state->variance() : mean_and_variance.second.get()},
                        .gamma = {gamma_and_beta.first.get()},
                        .beta = {gamma_and_beta.second.get()},
                        .epsilon = epsilon,
                        .neuron = neuron},
                       source_at_destination(task, window), result);
  return success();
}

namespace {

// Which of the data source's numbers are taken.
enum class Part { gamma_and_beta, mean_and_variance, all };

Status load(BatchNormalizationPart& self, Part part) {
  MPS::CNNBatchNormalizationDataSource* source = self.source.get();
  if (!source->load()) return Error{"the data source could not load"};
  MTL::Device* device = self.device.get();
  if (part != Part::mean_and_variance)
    self.gamma_and_beta = {new_floats(device, source->gamma(), self.channels, 1),
                           new_floats(device, source->beta(), self.channels, 0)};
  if (part != Part::gamma_and_beta)
    self.mean_and_variance = {new_floats(device, source->mean(), self.channels, 0),
                              new_floats(device, source->variance(), self.channels, 1)};
  source->purge();
  for (const auto* pair : {&self.gamma_and_beta, &self.mean_and_variance})
    if (!pair->first || !pair->second) return Error{"there is no memory for the numbers of the data source"};
  return success();
}

void reload(BatchNormalizationPart* self, Part part, const char* call) {
  if (!self || !self->source) return;
  if (const Status status = load(*self, part); !status) foundation::report_misuse(call, status.error());
}

template <class Interface>
Interface* init_pair(Interface* state, const MTL::Buffer* first, const MTL::Buffer* second, const char* call) {
  auto* self = shared_part_of<StatePart>(state);
  if (!self) return nullptr;
  if (!first || !second) {
    foundation::report_misuse(call, "a buffer is null");
    return foundation::failed_init(state);
  }
  self->set_device(first->device(), nullptr);
  for (const MTL::Buffer* buffer : {first, second})
    self->resources.push_back({buffer->length(), {}, foundation::retained<MTL::Resource>(buffer)});
  return state;
}

template <class Interface>
Interface* temporary_pair(const char* name, MTL::CommandBuffer* command_buffer, size_t channels) {
  if (!command_buffer) {
    foundation::report_misuse(name, "commandBuffer is null");
    return nullptr;
  }
  auto* state = new Object<Interface, StatePart>(name);
  state->set_device(command_buffer->device(), command_buffer);
  for (int i = 0; i < 2; ++i) state->add_buffer(channels * sizeof(float));
  return foundation::autoreleased(static_cast<Interface*>(state));
}

MTL::Buffer* buffer_of(const MPS::State* state, size_t index) {
  auto* part = shared_part_of<StatePart>(const_cast<MPS::State*>(state));
  return part ? part->buffer(index) : nullptr;
}

BatchNormalizationStatePart* state_part_of(const MPS::CNNBatchNormalizationState* state) {
  return shared_part_of<BatchNormalizationStatePart>(const_cast<MPS::CNNBatchNormalizationState*>(state));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define PAIR_STATE(Class, first, second)                                                                  \
  Class* Class::temporaryState(MTL::CommandBuffer* commandBuffer, NS::UInteger numberOfFeatureChannels) { \
    return temporary_pair<Class>("MPS" #Class, commandBuffer, numberOfFeatureChannels);                   \
  }                                                                                                       \
  Class* Class::alloc() {                                                                                 \
    return new mps::Object<Class, StatePart>("MPS" #Class);                                               \
  }                                                                                                       \
  Class* Class::init(const MTL::Buffer* first, const MTL::Buffer* second) {                               \
    return init_pair(this, first, second, "-[MPS" #Class " init]");                                       \
  }                                                                                                       \
  MTL::Buffer* Class::first() const {                                                                     \
    return buffer_of(this, 0);                                                                            \
  }                                                                                                       \
  MTL::Buffer* Class::second() const {                                                                    \
    return buffer_of(this, 1);                                                                            \
  }
PAIR_STATE(CNNNormalizationGammaAndBetaState, gamma, beta)
PAIR_STATE(CNNNormalizationMeanAndVarianceState, mean, variance)

#define OF_STATE(Type, getter, expression)          \
  Type CNNBatchNormalizationState::getter() const { \
    auto* self = state_part_of(this);               \
    return self ? expression : nullptr;             \
  }
OF_STATE(CNNBatchNormalization*, batchNormalization, self->made_by.get())
OF_STATE(MTL::Buffer*, gamma, self->gamma_and_beta.first.get())
OF_STATE(MTL::Buffer*, beta, self->gamma_and_beta.second.get())
OF_STATE(MTL::Buffer*, mean, self->mean())
OF_STATE(MTL::Buffer*, variance, self->variance())
OF_STATE(MTL::Buffer*, gradientForGamma, self->buffer(BatchNormalizationStatePart::gamma_gradient_index))
OF_STATE(MTL::Buffer*, gradientForBeta, self->buffer(BatchNormalizationStatePart::beta_gradient_index))
void CNNBatchNormalizationState::reset() {
  if (auto* self = state_part_of(this)) self->has_statistics = false;
}

CNNBatchNormalization* CNNBatchNormalization::alloc() {
  return new mps::Object<CNNBatchNormalization, BatchNormalizationPart>("MPSCNNBatchNormalization");
}

CNNBatchNormalization* CNNBatchNormalization::init(MTL::Device* device, CNNBatchNormalizationDataSource* dataSource,
                                                   const NNNeuronDescriptor* fusedNeuronDescriptor) {
  constexpr const char* call = "-[MPSCNNBatchNormalization initWithDevice:dataSource:fusedNeuronDescriptor:]";
  auto* self = part_of<BatchNormalizationPart>(this);
  if (!self) return nullptr;
  if (!device || !dataSource || dataSource->numberOfFeatureChannels() == 0) {
    foundation::report_misuse(call, !device       ? "device is null"
                                    : !dataSource ? "dataSource is null"
                                                  : "the data source has no channels");
    return foundation::failed_init(this);
  }
  self->device = NS::RetainPtr(device);
  self->source = NS::RetainPtr(dataSource);
  self->channels = dataSource->numberOfFeatureChannels();
  self->epsilon = dataSource->epsilon();
  if (!set_neuron(self->neuron, device, fusedNeuronDescriptor, call)) return foundation::failed_init(this);
  if (const Status status = load(*self, mps::Part::all); !status) {
    foundation::report_misuse(call, status.error());
    return foundation::failed_init(this);
  }
  return this;
}

MPS_READONLY(CNNBatchNormalization, BatchNormalizationPart, NS::UInteger, numberOfFeatureChannels, channels, (0))
MPS_PROPERTY(CNNBatchNormalization, BatchNormalizationPart, float, epsilon, setEpsilon, epsilon, (0))
CNNBatchNormalizationDataSource* CNNBatchNormalization::dataSource() const {
  const auto* self = part_of<BatchNormalizationPart>(this);
  return self ? self->source.get() : nullptr;
}

void CNNBatchNormalization::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                                   CNNBatchNormalizationState* batchNormalizationState, const Image* destinationImage) {
  CNNKernel::encode(commandBuffer, sourceImage, static_cast<const State*>(batchNormalizationState), destinationImage);
}

void CNNBatchNormalization::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                        CNNBatchNormalizationState* batchNormalizationState,
                                        const ImageBatch* destinationImages) {
  CNNKernel::encodeBatch(commandBuffer, sourceImages,
                         batchNormalizationState ? NS::Array::array(batchNormalizationState) : nullptr,
                         destinationImages);
}

CNNBatchNormalizationState* CNNBatchNormalization::resultState(const Image* sourceImage, const NS::Array* sourceStates,
                                                               const Image* destinationImage) {
  return static_cast<CNNBatchNormalizationState*>(CNNKernel::resultState(sourceImage, sourceStates, destinationImage));
}

CNNBatchNormalizationState* CNNBatchNormalization::temporaryResultState(MTL::CommandBuffer* commandBuffer,
                                                                        const Image* sourceImage,
                                                                        const NS::Array* sourceStates,
                                                                        const Image* destinationImage) {
  return static_cast<CNNBatchNormalizationState*>(
      CNNKernel::temporaryResultState(commandBuffer, sourceImage, sourceStates, destinationImage));
}

void CNNBatchNormalization::reloadGammaAndBetaFromDataSource() {
  reload(part_of<BatchNormalizationPart>(this), mps::Part::gamma_and_beta,
         "-[MPSCNNBatchNormalization reloadGammaAndBetaFromDataSource]");
}
void CNNBatchNormalization::reloadMeanAndVarianceFromDataSource() {
  reload(part_of<BatchNormalizationPart>(this), mps::Part::mean_and_variance,
         "-[MPSCNNBatchNormalization reloadMeanAndVarianceFromDataSource]");
}
void CNNBatchNormalization::reloadGammaAndBeta(MTL::CommandBuffer* commandBuffer,
                                               const CNNNormalizationGammaAndBetaState* gammaAndBetaState) {
  if (auto* self = part_of<BatchNormalizationPart>(this))
    reload(self->gamma_and_beta, self->channels, self->device.get(), commandBuffer, gammaAndBetaState,
           "-[MPSCNNBatchNormalization reloadGammaAndBetaWithCommandBuffer:gammaAndBetaState:]");
}
void CNNBatchNormalization::reloadMeanAndVariance(MTL::CommandBuffer* commandBuffer,
                                                  const CNNNormalizationMeanAndVarianceState* meanAndVarianceState) {
  if (auto* self = part_of<BatchNormalizationPart>(this))
    reload(self->mean_and_variance, self->channels, self->device.get(), commandBuffer, meanAndVarianceState,
           "-[MPSCNNBatchNormalization reloadMeanAndVarianceWithCommandBuffer:meanAndVarianceState:]");
}

}  // namespace MPS
