// A transposed convolution makes result pixel d of the source with its pixels moved apart, from d + left on. So source
// pixel s gets of its gradient what a convolution with that stride makes of the result's, with weights turned; and the
// gradient of weights is that of a convolution whose source has its pixels moved apart.
#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/convolution.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class ConvolutionTransposeGradientPart : public CnnGradientPart {
 public:
  std::shared_ptr<ConvolutionWeights> weights;  // turned
  MPS::CNNConvolutionGradientOption option = MPS::CNNConvolutionGradientOptionAll;

  const char* call() const override { return "MPS::CNNConvolutionTransposeGradient::encode"; }
  size_t result_channels(size_t, size_t) const override { return weights->shape.inputs; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override {
    const ConvolutionShape& shape = weights->shape;
    const auto* forward = shared_part_of<ConvolutionTransposeStatePart>(task.states.front());
    if (!forward) return Error{"gradientState is no state of a transposed convolution"};
    if (task.gradient.channels < shape.outputs || task.source.channels < shape.inputs)
      return Error{
          fmt::format("sourceGradient has {} channels and sourceImage {}; the transposed convolution makes {} "
                      "of {}",
                      task.gradient.channels, task.source.channels, shape.outputs, shape.inputs)};
    const WindowGeometry window = shape.window();
    const auto first = [](NS::UInteger origin, NS::UInteger stride, NS::Integer start, size_t size) {
      return NS::Integer(origin * stride) - start - NS::Integer(size - 1);
    };
    if (option & MPS::CNNConvolutionGradientOptionGradientWithData)
      encode_convolution(encoding, *weights,
                         {.left = first(clip.origin.x, window.stride_x, forward->left, window.window_width()),
                          .top = first(clip.origin.y, window.stride_y, forward->top, window.window_height()),
                          .stride_x = window.stride_x,
                          .stride_y = window.stride_y},
                         task.gradient, task.destination, false);
    if (option & MPS::CNNConvolutionGradientOptionGradientWithWeightsAndBias) {
      const auto result = weights_gradient_in(task.states, shape);
      if (!result) return Error{result.error()};
      convolve_weights_gradient(
          encoding, shape,
          {.left = forward->left, .top = forward->top, .apart_x = window.stride_x, .apart_y = window.stride_y},
          task.source, task.gradient, *result);
    }
    return success();
  }
};

namespace {

ConvolutionTransposeGradientPart* body(const MPS::CNNConvolutionTransposeGradient* kernel) {
  return shared_part_of<ConvolutionTransposeGradientPart>(const_cast<MPS::CNNConvolutionTransposeGradient*>(kernel));
}

bool load(ConvolutionTransposeGradientPart& self, MTL::Device* device, MPS::CNNConvolutionDataSource* source,
          const char* call) {
  auto loaded = ConvolutionWeights::load(device, source, ConvolutionWeights::Order::turned);
  if (loaded)
    self.weights = *loaded;
  else
    foundation::report_misuse(call, loaded.error());
  return bool(loaded);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNConvolutionTransposeGradient* CNNConvolutionTransposeGradient::alloc() {
  return new mps::Object<CNNConvolutionTransposeGradient, ConvolutionTransposeGradientPart>(
      "MPSCNNConvolutionTransposeGradient");
}

CNNConvolutionTransposeGradient* CNNConvolutionTransposeGradient::init(MTL::Device* device,
                                                                       CNNConvolutionDataSource* weights) {
  auto* self = body(this);
  if (!self) return nullptr;
  if (!load(*self, device, weights, "-[MPSCNNConvolutionTransposeGradient initWithDevice:weights:]"))
    return foundation::failed_init(this);
  self->device = NS::RetainPtr(device);
  return this;
}

NS::UInteger CNNConvolutionTransposeGradient::sourceGradientFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.outputs : 0;
}
NS::UInteger CNNConvolutionTransposeGradient::sourceImageFeatureChannels() const {
  const auto* self = body(this);
  return self ? self->weights->shape.inputs : 0;
}
NS::UInteger CNNConvolutionTransposeGradient::groups() const {
  const auto* self = body(this);
  return self ? self->weights->shape.groups : 0;
}
CNNConvolutionDataSource* CNNConvolutionTransposeGradient::dataSource() const {
  const auto* self = body(this);
  return self ? self->weights->source.get() : nullptr;
}
MPS_PROPERTY(CNNConvolutionTransposeGradient, ConvolutionTransposeGradientPart, CNNConvolutionGradientOption,
             gradientOption, setGradientOption, option, (CNNConvolutionGradientOptionAll))

void CNNConvolutionTransposeGradient::reloadWeightsAndBiasesFromDataSource() {
  if (auto* self = body(this))
    load(*self, self->device.get(), self->weights->source.get(),
         "-[MPSCNNConvolutionTransposeGradient reloadWeightsAndBiasesFromDataSource]");
}

void CNNConvolutionTransposeGradient::reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                                             const CNNConvolutionWeightsAndBiasesState* state) {
  auto* self = body(this);
  if (!self) return;
  Encoding encoding(commandBuffer, *self, "MPS::CNNConvolutionTransposeGradient::reloadWeightsAndBiases");
  if (encoding) reload(encoding, self->weights, state);
}

}  // namespace MPS
