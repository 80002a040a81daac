#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSNNReshape.hpp>

#include "mps/core/cnn_kernel.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

class PadStatePart : public GradientStatePart {
 public:
  size_t channels_before = 0, source_channels = 0;
};

class PadPart : public CnnKernelPart {
 public:
  MPS::ImageCoordinate before = {0, 0, 0}, after = {0, 0, 0};
  float fill = 0;
  NS::SharedPtr<MTL::Buffer> fill_values;  // for each channel of the result, if not null

  const char* call() const override { return "MPS::NNPad::encode"; }
  bool takes_constant_edges() const override { return true; }
  size_t result_channels(size_t channels) const override { return before.channel + channels + after.channel; }
  void set_origin(NS::Integer, NS::Integer) override {
    window.offset_x = -NS::Integer(before.x);
    window.offset_y = -NS::Integer(before.y);
  }
  ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const override {
    ImageShape shape = suggested;
    shape.width = before.x + source.width + after.x;
    shape.height = before.y + source.height + after.y;
    return shape;
  }
  NS::SharedPtr<MPS::State> new_state() const override {
    return NS::TransferPtr<MPS::State>(new Object<MPS::NNGradientState, PadStatePart>("MPSNNGradientState"));
  }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class PadGradientPart : public CnnGradientPart {
 public:
  const char* call() const override { return "MPS::NNPadGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/pad.metal has it.
struct KernelPad {
  KernelImageTensor source, result;
  int32_t x, y, channel;
  uint32_t edge;
  float fill;
};

KernelPad for_kernel(const WindowGeometry& window, size_t channels_before, const ImageTensor& source,
                     const ImageTensor& result) {
  return {for_kernel(source),
          for_kernel(result),
          int32_t(window.offset_x),
          int32_t(window.offset_y),
          -int32_t(channels_before),
          uint32_t(window.edge_mode),
          0};
}

}  // namespace

Status PadPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor &source = task.source, &result = task.destination;
  if (fill_values && fill_values->length() < result.channels * sizeof(float))
    return Error{fmt::format("fillValueArray has {} numbers, and {} channels are written",
                             fill_values->length() / sizeof(float), result.channels)};
  for (MPS::State* state : task.states)
    if (auto* part = shared_part_of<PadStatePart>(state)) {
      part->channels_before = before.channel;
      part->source_channels = source.channels;
    }
  KernelPad numbers = for_kernel(window, before.channel, source, result);
  numbers.fill = fill;
  encoding.dispatch({fmt::format("pad_{}", metal_name_of(result.type)), {uint32_t(bool(fill_values))}},
                    threads_over_pixels(result), pixel_threadgroup(encoding), source.place, result.place,
                    Operand{fill_values.get()}, numbers);
  return success();
}

Status PadGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto* forward = shared_part_of<PadStatePart>(task.states.front());
  if (!forward) return Error{"gradientState is no state of a NNPad"};
  const ImageTensor &gradient = task.gradient, &result = task.destination;
  ImageTensor source = task.source;
  if (source.channels < forward->source_channels)
    return Error{fmt::format("sourceImage has {} channels, and the forward pass read {}", source.channels,
                             forward->source_channels)};
  source.channels = forward->source_channels;
  const uint32_t origin[] = {uint32_t(clip.origin.x), uint32_t(clip.origin.y)};
  encoding.dispatch({fmt::format("pad_gradient_{}", metal_name_of(result.type)), {0}}, threads_over_pixels(result),
                    pixel_threadgroup(encoding), gradient.place, result.place,
                    for_kernel(forward->geometry, forward->channels_before, source, gradient), mps::for_kernel(result),
                    origin);
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NNPad* NNPad::alloc() {
  return new mps::Object<NNPad, PadPart>("MPSNNPad");
}
NNPad* NNPad::init(MTL::Device* device) {
  return init(device, {0, 0, 0}, {0, 0, 0});
}
NNPad* NNPad::init(MTL::Device* device, ImageCoordinate paddingSizeBefore, ImageCoordinate paddingSizeAfter,
                   const NS::Data* fillValueArray) {
  constexpr const char* call = "-[MPSNNPad initWithDevice:paddingSizeBefore:paddingSizeAfter:fillValueArray:]";
  auto* self = part_of<PadPart>(this);
  if (!init_kernel(this, self, device, call)) return nullptr;
  self->before = paddingSizeBefore;
  self->after = paddingSizeAfter;
  if (!fillValueArray || fillValueArray->length() == 0) return this;
  self->fill_values = NS::TransferPtr(
      device->newBuffer(fillValueArray->bytes(), fillValueArray->length(), MTL::ResourceStorageModeShared));
  if (self->fill_values) return this;
  foundation::report_misuse(call, "there is no memory for fillValueArray");
  return foundation::failed_init(this);
}
MPS_PROPERTY(NNPad, PadPart, ImageCoordinate, paddingSizeBefore, setPaddingSizeBefore, before, {})
MPS_PROPERTY(NNPad, PadPart, ImageCoordinate, paddingSizeAfter, setPaddingSizeAfter, after, {})
MPS_PROPERTY(NNPad, PadPart, float, fillValue, setFillValue, fill, (0))

NNPadGradient* NNPadGradient::alloc() {
  return new mps::Object<NNPadGradient, PadGradientPart>("MPSNNPadGradient");
}
NNPadGradient* NNPadGradient::init(MTL::Device* device) {
  return init_kernel(this, part_of<PadGradientPart>(this), device, "-[MPSNNPadGradient initWithDevice:]");
}

}  // namespace MPS
