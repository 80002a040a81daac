// What batch normalization needs for training: statistics of a batch, and the gradients.
#include <fmt/format.h>

#include "mps/cnn/batch_normalization.hpp"
#include "mps/cnn/layer_neuron.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/cnn_layer.hpp"

namespace metalloid::mps {

class BatchStatisticsPart : public CnnKernelPart {
 public:
  const char* call() const override { return "MPS::CNNBatchNormalizationStatistics::encode"; }
  Status encode_layer(Encoding&, CnnTask&) const override {
    return Error{"statistics have no destinationImage; call encodeBatch with a batchNormalizationState"};
  }
};

class BatchStatisticsGradientPart : public CnnGradientPart {
 public:
  NeuronHolder neuron;

  const char* call() const override { return "MPS::CNNBatchNormalizationStatisticsGradient::encode"; }
  Status encode_gradient(Encoding&, CnnGradientTask&) const override {
    return Error{"statistics have no destinationGradient; call encodeBatch with a batchNormalizationState"};
  }
};

class BatchNormalizationGradientPart : public CnnGradientPart {
 public:
  NeuronHolder neuron;

  const char* call() const override { return "MPS::CNNBatchNormalizationGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

using NormalizationState = BatchNormalizationStatePart;

Status check_state(const NormalizationState* state, size_t channels) {
  if (!state) return Error{"batchNormalizationState is null"};
  if (state->channels != channels)
    return Error{fmt::format("the images have {} channels, and batchNormalizationState {}", channels, state->channels)};
  return success();
}

Normalization normalization_of(NormalizationState& state, const NeuronHolder& neuron) {
  return {.mean = {state.mean()},
          .variance = {state.variance()},
          .gamma = {state.gamma_and_beta.first.get()},
          .beta = {state.gamma_and_beta.second.get()},
          .epsilon = state.epsilon,
          .neuron = neuron};
}

Status encode_statistics(Encoding& encoding, std::span<ImageObject* const> images, NormalizationState* state) {
  if (auto status = check_batch(images, "sourceImage"); !status) return status;
  if (auto status = check_state(state, images.front()->shape.channels); !status) return status;
  ImageWork work(encoding);
  const auto source = work.source(images, whole(images), work_type_of({images}));
  if (!source) return Error{"sourceImage: " + source.error()};
  state->has_statistics = true;
  encode_statistics(encoding, *source, Slices::batch, {state->mean()}, {state->variance()});
  mark_as_read(images);
  return success();
}

Status encode_statistics_gradient(Encoding& encoding, const NeuronHolder& neuron,
                                  std::span<ImageObject* const> gradients, std::span<ImageObject* const> images,
                                  NormalizationState* state) {
  if (auto status = check_batch(gradients, "sourceGradient"); !status) return status;
  if (auto status = check_batch(images, "sourceImage"); !status) return status;
  const ImageShape &shape = images.front()->shape, &other = gradients.front()->shape;
  if (auto status = check_state(state, shape.channels); !status) return status;
  if (auto status = check_neuron(neuron, shape.channels); !status) return status;
  if (gradients.size() != images.size() || shape.width != other.width || shape.height != other.height ||
      shape.channels != other.channels || shape.images != other.images)
    return Error{"sourceGradients and sourceImages must be equally many and equally large"};
  ImageWork work(encoding);
  const MPS::DataType type = work_type_of({gradients, images});
  const auto gradient = work.source(gradients, whole(gradients), type),
             source = work.source(images, whole(images), type);
  if (!gradient) return Error{"sourceGradient: " + gradient.error()};
  if (!source) return Error{"sourceImage: " + source.error()};
  encode_sums(encoding, normalization_of(*state, neuron), *gradient, *source,
              {state->buffer(NormalizationState::gamma_gradient_index)},
              {state->buffer(NormalizationState::beta_gradient_index)});
  mark_as_read(gradients);
  mark_as_read(images);
  return success();
}

template <class Part, class Interface>
Interface* init(Interface* kernel, MTL::Device* device, const MPS::NNNeuronDescriptor* descriptor, const char* call) {
  auto* self = part_of<Part>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  return set_neuron(self->neuron, device, descriptor, call) ? kernel : foundation::failed_init(kernel);
}

// The state once for each image, as gradient kernels take it.
NS::Array* repeated(const MPS::State* state, const NS::Array* images) {
  if (!state || !images) return nullptr;
  const std::vector<const NS::Object*> states(images->count(), state);
  return NS::Array::array(states.data(), states.size());
}

}  // namespace

Status BatchNormalizationGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  auto* state = shared_part_of<NormalizationState>(task.states.front());
  const ImageTensor& result = task.destination;
  if (auto status = check_state(state, result.channels); !status) return status;
  if (auto status = check_neuron(neuron, result.channels); !status) return status;
  const auto moved = gradient_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  encode_source_gradient(encoding, normalization_of(*state, neuron),
                         {.of_gamma = {state->buffer(NormalizationState::gamma_gradient_index)},
                          .of_beta = {state->buffer(NormalizationState::beta_gradient_index)},
                          .count = float(task.source.images * task.source.height * task.source.width)},
                         moved->gradient, moved->source, result);
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNBatchNormalizationStatistics* CNNBatchNormalizationStatistics::alloc() {
  return new mps::Object<CNNBatchNormalizationStatistics, BatchStatisticsPart>("MPSCNNBatchNormalizationStatistics");
}
CNNBatchNormalizationStatistics* CNNBatchNormalizationStatistics::init(MTL::Device* device) {
  return init_kernel(this, part_of<BatchStatisticsPart>(this), device,
                     "-[MPSCNNBatchNormalizationStatistics initWithDevice:]");
}
void CNNBatchNormalizationStatistics::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                                  CNNBatchNormalizationState* batchNormalizationState) {
  const auto* self = part_of<BatchStatisticsPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, self->call()); encoding)
    encoding.check(encode_statistics(encoding, images_of(sourceImages),
                                     shared_part_of<BatchNormalizationStatePart>(batchNormalizationState)));
}

CNNBatchNormalizationStatisticsGradient* CNNBatchNormalizationStatisticsGradient::alloc() {
  return new mps::Object<CNNBatchNormalizationStatisticsGradient, BatchStatisticsGradientPart>(
      "MPSCNNBatchNormalizationStatisticsGradient");
}
CNNBatchNormalizationStatisticsGradient* CNNBatchNormalizationStatisticsGradient::init(
    MTL::Device* device, const NNNeuronDescriptor* fusedNeuronDescriptor) {
  return mps::init<BatchStatisticsGradientPart>(
      this, device, fusedNeuronDescriptor,
      "-[MPSCNNBatchNormalizationStatisticsGradient initWithDevice:fusedNeuronDescriptor:]");
}
void CNNBatchNormalizationStatisticsGradient::encodeBatch(MTL::CommandBuffer* commandBuffer,
                                                          const ImageBatch* sourceGradients,
                                                          const ImageBatch* sourceImages,
                                                          CNNBatchNormalizationState* batchNormalizationState) {
  const auto* self = part_of<BatchStatisticsGradientPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, self->call()); encoding)
    encoding.check(encode_statistics_gradient(encoding, self->neuron, images_of(sourceGradients),
                                              images_of(sourceImages),
                                              shared_part_of<BatchNormalizationStatePart>(batchNormalizationState)));
}

CNNBatchNormalizationGradient* CNNBatchNormalizationGradient::alloc() {
  return new mps::Object<CNNBatchNormalizationGradient, BatchNormalizationGradientPart>(
      "MPSCNNBatchNormalizationGradient");
}
CNNBatchNormalizationGradient* CNNBatchNormalizationGradient::init(MTL::Device* device,
                                                                   const NNNeuronDescriptor* fusedNeuronDescriptor) {
  return mps::init<BatchNormalizationGradientPart>(
      this, device, fusedNeuronDescriptor, "-[MPSCNNBatchNormalizationGradient initWithDevice:fusedNeuronDescriptor:]");
}
void CNNBatchNormalizationGradient::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient,
                                           const Image* sourceImage,
                                           CNNBatchNormalizationState* batchNormalizationState,
                                           const Image* destinationGradient) {
  CNNGradientKernel::encode(commandBuffer, sourceGradient, sourceImage,
                            static_cast<const State*>(batchNormalizationState), destinationGradient);
}
Image* CNNBatchNormalizationGradient::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient,
                                             const Image* sourceImage,
                                             CNNBatchNormalizationState* batchNormalizationState) {
  return CNNGradientKernel::encode(commandBuffer, sourceGradient, sourceImage,
                                   static_cast<const State*>(batchNormalizationState));
}
void CNNBatchNormalizationGradient::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients,
                                                const ImageBatch* sourceImages,
                                                CNNBatchNormalizationState* batchNormalizationState,
                                                const ImageBatch* destinationGradients) {
  CNNGradientKernel::encodeBatch(commandBuffer, sourceGradients, sourceImages,
                                 repeated(batchNormalizationState, sourceImages), destinationGradients);
}
ImageBatch* CNNBatchNormalizationGradient::encodeBatch(MTL::CommandBuffer* commandBuffer,
                                                       const ImageBatch* sourceGradients,
                                                       const ImageBatch* sourceImages,
                                                       CNNBatchNormalizationState* batchNormalizationState) {
  return CNNGradientKernel::encodeBatch(commandBuffer, sourceGradients, sourceImages,
                                        repeated(batchNormalizationState, sourceImages));
}

}  // namespace MPS
