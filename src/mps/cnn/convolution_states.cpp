// The states of convolutions, and what a data source need not have.
#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/convolution.hpp"

namespace metalloid::mps {
namespace {

using WeightsState = Object<MPS::CNNConvolutionWeightsAndBiasesState, StatePart>;

void add_buffers(StatePart& state, const ConvolutionShape& shape) {
  state.add_buffer(shape.weights() * sizeof(float));
  state.add_buffer(shape.outputs * sizeof(float));
}

MTL::Buffer* buffer_of(const MPS::State* state, size_t index) {
  auto* part = shared_part_of<StatePart>(const_cast<MPS::State*>(state));
  return part ? part->buffer(index) : nullptr;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolutionWeightsAndBiasesState* CNNConvolutionDataSource::update(MTL::CommandBuffer*, CNNConvolutionGradientState*,
                                                                      CNNConvolutionWeightsAndBiasesState*) {
  return nullptr;
}

bool CNNConvolutionDataSource::update(CNNConvolutionGradientState*, CNNConvolutionWeightsAndBiasesState*) {
  return false;
}

MTL::Buffer* CNNConvolutionGradientState::gradientForWeights() const {
  return buffer_of(this, weights_index);
}
MTL::Buffer* CNNConvolutionGradientState::gradientForBiases() const {
  return buffer_of(this, biases_index);
}
CNNConvolution* CNNConvolutionGradientState::convolution() const {
  const auto* self = shared_part_of<ConvolutionGradientStatePart>(this);
  return self ? self->made_by.get() : nullptr;
}

CNNConvolutionWeightsAndBiasesState* CNNConvolutionWeightsAndBiasesState::temporaryCNNConvolutionWeightsAndBiasesState(
    MTL::CommandBuffer* commandBuffer, const CNNConvolutionDescriptor* descriptor) {
  if (!commandBuffer || !descriptor) {
    foundation::report_misuse("+[MPSCNNConvolutionWeightsAndBiasesState temporary…]",
                              commandBuffer ? "descriptor is null" : "commandBuffer is null");
    return nullptr;
  }
  auto* state = new WeightsState("MPSCNNConvolutionWeightsAndBiasesState");
  state->set_device(commandBuffer->device(), commandBuffer);
  add_buffers(*state, body(descriptor)->shape);
  return foundation::autoreleased(static_cast<CNNConvolutionWeightsAndBiasesState*>(state));
}

CNNConvolutionWeightsAndBiasesState* CNNConvolutionWeightsAndBiasesState::alloc() {
  return new WeightsState("MPSCNNConvolutionWeightsAndBiasesState");
}

CNNConvolutionWeightsAndBiasesState* CNNConvolutionWeightsAndBiasesState::init(const MTL::Buffer* weights,
                                                                               const MTL::Buffer* biases) {
  auto* self = shared_part_of<StatePart>(this);
  if (!self) return nullptr;
  if (!weights) {
    foundation::report_misuse("-[MPSCNNConvolutionWeightsAndBiasesState initWithWeights:biases:]", "weights is null");
    return foundation::failed_init(this);
  }
  self->set_device(weights->device(), nullptr);
  for (const MTL::Buffer* buffer : {weights, biases})
    if (buffer) self->resources.push_back({buffer->length(), {}, foundation::retained<MTL::Resource>(buffer)});
  return this;
}

CNNConvolutionWeightsAndBiasesState* CNNConvolutionWeightsAndBiasesState::init(
    MTL::Device* device, const CNNConvolutionDescriptor* descriptor) {
  auto* self = shared_part_of<StatePart>(this);
  if (!self) return nullptr;
  if (!device || !descriptor) {
    foundation::report_misuse("-[MPSCNNConvolutionWeightsAndBiasesState initWithDevice:cnnConvolutionDescriptor:]",
                              device ? "descriptor is null" : "device is null");
    return foundation::failed_init(this);
  }
  self->set_device(device, nullptr);
  add_buffers(*self, body(descriptor)->shape);
  return this;
}

MTL::Buffer* CNNConvolutionWeightsAndBiasesState::weights() const {
  return buffer_of(this, weights_index);
}
MTL::Buffer* CNNConvolutionWeightsAndBiasesState::biases() const {
  return buffer_of(this, biases_index);
}

}  // namespace MPS
