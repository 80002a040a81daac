// A transposed convolution is a convolution of the source with its pixels moved apart: our kernel knows such sources.
#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/convolution.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class ConvolutionTransposePart : public CnnKernelPart {
 public:
  std::shared_ptr<ConvolutionWeights> weights;
  NS::Integer kernel_offset_x = 0, kernel_offset_y = 0;

  ConvolutionTransposePart() { is_backwards = true; }
  const char* call() const override { return "MPS::CNNConvolutionTranspose::encode"; }
  size_t result_channels(size_t) const override { return weights->shape.outputs; }
  void set_origin(NS::Integer x, NS::Integer y) override {
    window.offset_x = window.offset_y = 0;
    kernel_offset_x = x;
    kernel_offset_y = y;
  }
  NS::SharedPtr<MPS::State> new_state() const override {
    auto* state = new Object<MPS::CNNConvolutionTransposeGradientState, ConvolutionTransposeStatePart>(
        "MPSCNNConvolutionTransposeGradientState");
    state->add_buffer(weights->shape.weights() * sizeof(float));
    state->add_buffer(weights->shape.outputs * sizeof(float));
    state->made_by_transpose = foundation::retained(dynamic_cast<const MPS::CNNConvolutionTranspose*>(this));
    return NS::TransferPtr<MPS::State>(state);
  }
  bool state_is_shared() const override { return true; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override {
    const ConvolutionShape& shape = weights->shape;
    if (task.source.channels < shape.inputs)
      return Error{
          fmt::format("sourceImage has {} channels, and the convolution takes {}", task.source.channels, shape.inputs)};
    if (window.edge_mode != MPS::ImageEdgeModeZero) return Error{"edgeMode must be zero"};
    WindowGeometry enlarged = window;
    enlarged.offset_x = window.offset_x * NS::Integer(window.stride_x) + kernel_offset_x;
    enlarged.offset_y = window.offset_y * NS::Integer(window.stride_y) + kernel_offset_y;
    for (MPS::State* state : task.states) {
      auto* part = shared_part_of<ConvolutionTransposeStatePart>(state);
      if (!part) return Error{"destinationState is no state of a transposed convolution"};
      part->left = enlarged.left();
      part->top = enlarged.top();
    }
    encode_convolution(
        encoding, *weights,
        {.left = enlarged.left(), .top = enlarged.top(), .apart_x = window.stride_x, .apart_y = window.stride_y},
        task.source, task.destination, true);
    return success();
  }
};

namespace {

ConvolutionTransposePart* body(const MPS::CNNConvolutionTranspose* kernel) {
  return shared_part_of<ConvolutionTransposePart>(const_cast<MPS::CNNConvolutionTranspose*>(kernel));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolutionTranspose* CNNConvolutionTranspose::alloc() {
  return new mps::Object<CNNConvolutionTranspose, ConvolutionTransposePart>("MPSCNNConvolutionTranspose");
}

CNNConvolutionTranspose* CNNConvolutionTranspose::init(MTL::Device* device, CNNConvolutionDataSource* weights) {
  auto* self = body(this);
  if (!self) return nullptr;
  auto loaded = ConvolutionWeights::load(device, weights, ConvolutionWeights::Order::as_given);
  if (!loaded) {
    foundation::report_misuse("-[MPSCNNConvolutionTranspose initWithDevice:weights:]", loaded.error());
    return foundation::failed_init(this);
  }
  if ((*loaded)->shape.sub_pixels > 1) {
    foundation::report_misuse("-[MPSCNNConvolutionTranspose initWithDevice:weights:]",
                              "the descriptor's subPixelScaleFactor must be 1 for a transposed convolution");
    return foundation::failed_init(this);
  }
  self->device = NS::RetainPtr(device);
  self->weights = *loaded;
  self->window = self->weights->shape.window();
  return this;
}

NS::UInteger CNNConvolutionTranspose::inputFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.inputs : 0;
}
NS::UInteger CNNConvolutionTranspose::outputFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.outputs : 0;
}
NS::UInteger CNNConvolutionTranspose::groups() const {
  const auto* self = body(this);
  return self ? self->weights->shape.groups : 0;
}
CNNConvolutionDataSource* CNNConvolutionTranspose::dataSource() const {
  const auto* self = body(this);
  return self ? self->weights->source.get() : nullptr;
}
MPS_PROPERTY(CNNConvolutionTranspose, ConvolutionTransposePart, NS::Integer, kernelOffsetX, setKernelOffsetX,
             kernel_offset_x, (0))
MPS_PROPERTY(CNNConvolutionTranspose, ConvolutionTransposePart, NS::Integer, kernelOffsetY, setKernelOffsetY,
             kernel_offset_y, (0))

void CNNConvolutionTranspose::reloadWeightsAndBiasesFromDataSource() {
  auto* self = body(this);
  if (!self) return;
  auto loaded =
      ConvolutionWeights::load(self->device.get(), self->weights->source.get(), ConvolutionWeights::Order::as_given);
  if (!loaded)
    return foundation::report_misuse("-[MPSCNNConvolutionTranspose reloadWeightsAndBiasesFromDataSource]",
                                     loaded.error());
  self->weights = *loaded;
}

void CNNConvolutionTranspose::reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                                     const CNNConvolutionWeightsAndBiasesState* state) {
  auto* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::CNNConvolutionTranspose::reloadWeightsAndBiases");
  if (encoding) reload(encoding, self->weights, state);
}

Image* CNNConvolutionTranspose::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                                       const CNNConvolutionGradientState* convolutionGradientState) {
  return encode(commandBuffer, sourceImage, convolutionGradientState, nullptr, false);
}

Image* CNNConvolutionTranspose::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                                       const CNNConvolutionGradientState* convolutionGradientState,
                                       CNNConvolutionTransposeGradientState** destinationState,
                                       bool destinationStateIsTemporary) {
  auto* self = body(this);
  if (!self || !commandBuffer || !sourceImage) return nullptr;
  Image* destination = nullptr;
  if (const auto* forward = shared_part_of<GradientStatePart>(convolutionGradientState)) {
    const WindowGeometry& window = forward->geometry;
    self->set_origin(
        NS::Integer(self->window.window_width() / 2) - NS::Integer(window.window_width() - 1) - window.left(),
        NS::Integer(self->window.window_height() / 2) - NS::Integer(window.window_height() - 1) - window.top());
    destination = destinationImageAllocator()->image(
        commandBuffer,
        ImageDescriptor::imageDescriptor(sourceImage->featureChannelFormat(), forward->source.width,
                                         forward->source.height, self->weights->shape.outputs),
        this);
  } else if (ImageDescriptor* descriptor = destinationImageDescriptor(NS::Array::array(sourceImage), nullptr)) {
    destination = destinationImageAllocator()->image(commandBuffer, descriptor, this);
  }
  if (!destination) return nullptr;
  CNNConvolutionTransposeGradientState* state = nullptr;
  if (destinationState)
    *destinationState = state = destinationStateIsTemporary
                                    ? temporaryResultState(commandBuffer, sourceImage, nullptr, destination)
                                    : resultState(sourceImage, nullptr, destination);
  encode(commandBuffer, sourceImage, static_cast<const State*>(state), destination);
  return destination;
}

CNNConvolutionTransposeGradientState* CNNConvolutionTranspose::resultState(const Image* sourceImage,
                                                                           const NS::Array* sourceStates,
                                                                           const Image* destinationImage) {
  return static_cast<CNNConvolutionTransposeGradientState*>(
      CNNKernel::resultState(sourceImage, sourceStates, destinationImage));
}

CNNConvolutionTransposeGradientState* CNNConvolutionTranspose::temporaryResultState(MTL::CommandBuffer* commandBuffer,
                                                                                    const Image* sourceImage,
                                                                                    const NS::Array* sourceStates,
                                                                                    const Image* destinationImage) {
  return static_cast<CNNConvolutionTransposeGradientState*>(
      CNNKernel::temporaryResultState(commandBuffer, sourceImage, sourceStates, destinationImage));
}

CNNConvolutionTranspose* CNNConvolutionTransposeGradientState::convolutionTranspose() const {
  const auto* self = shared_part_of<ConvolutionTransposeStatePart>(this);
  return self ? self->made_by_transpose.get() : nullptr;
}

}  // namespace MPS
