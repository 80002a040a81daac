// Masks lie in the states of images, one for each.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNDropout.hpp>

#include "foundation/misuse.hpp"
#include "mps/core/counter.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

struct DropoutSettings {
  float keep_probability = 0.5f;
  NS::UInteger seed = 0;
  MTL::Size mask_stride = MTL::Size(1, 1, 1);
};

class DropoutStatePart : public GradientStatePart {
 public:
  size_t mask_channels = 0;  // of the result
  DropoutSettings settings;
};

class DropoutPart : public CnnKernelPart {
 public:
  DropoutSettings settings;
  mutable Counter used;  // random numbers

  const char* call() const override { return "MPS::CNNDropout::encode"; }
  NS::SharedPtr<MPS::State> new_state() const override {
    return NS::TransferPtr<MPS::State>(
        new Object<MPS::CNNDropoutGradientState, DropoutStatePart>("MPSCNNDropoutGradientState"));
  }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class DropoutGradientPart : public CnnGradientPart {
 public:
  DropoutSettings settings;

  const char* call() const override { return "MPS::CNNDropoutGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/dropout.metal has it.
struct KernelDropout {
  KernelImageTensor source, result;
  uint64_t key, first_counter;
  float keep_probability, factor;
  uint32_t stride_x, stride_y, stride_channel;
  int32_t mask_x, mask_y;
  uint32_t mask_width, mask_height;
};

// [y][x][channel], with one number along directions that share it.
struct Mask {
  size_t width, height, channels;

  Mask(const DropoutSettings& settings, size_t image_width, size_t image_height, size_t image_channels)
      : width(settings.mask_stride.width ? image_width : 1),
        height(settings.mask_stride.height ? image_height : 1),
        channels(settings.mask_stride.depth ? image_channels : 1) {}
  size_t numbers() const { return width * height * channels; }
};

KernelDropout for_kernel(const DropoutSettings& settings, const Mask& mask, const ImageTensor& source,
                         const ImageTensor& result) {
  return {.source = mps::for_kernel(source),
          .result = mps::for_kernel(result),
          .key = settings.seed,
          .first_counter = 0,
          .keep_probability = settings.keep_probability,
          .factor = 1 / settings.keep_probability,
          .stride_x = settings.mask_stride.width ? uint32_t(mask.channels) : 0,
          .stride_y = settings.mask_stride.height ? uint32_t(mask.channels * mask.width) : 0,
          .stride_channel = settings.mask_stride.depth ? 1u : 0u,
          .mask_x = 0,
          .mask_y = 0,
          .mask_width = 0,
          .mask_height = 0};
}

Operand image_of(const ImageTensor& tensor, size_t image) {
  return tensor.place + image * tensor.image_stride * tensor.number_bytes();
}

template <class Interface, class Part>
Interface* init(Interface* kernel, Part* self, MTL::Device* device, const DropoutSettings& settings, const char* call) {
  if (!self) return nullptr;
  const MTL::Size stride = settings.mask_stride;
  const bool has_probability = settings.keep_probability > 0 && settings.keep_probability <= 1;
  if (!has_probability || stride.width > 1 || stride.height > 1 || stride.depth > 1) {
    foundation::report_misuse(call, has_probability ? "maskStrideInPixels must be 0 or 1 in each direction"
                                                    : "keepProbability must be above 0, and 1 at most");
    return foundation::failed_init(kernel);
  }
  self->settings = settings;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Status DropoutPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor source = source_at_destination(task, window);
  const ImageTensor& result = task.destination;
  const Mask mask(settings, result.width, result.height, result.channels);
  KernelDropout numbers = for_kernel(settings, mask, source, result);
  for (size_t image = 0; image < result.images; ++image) {
    Operand kept;
    if (!task.states.empty()) {
      auto* state = image < task.states.size() ? shared_part_of<DropoutStatePart>(task.states[image]) : nullptr;
      if (!state) return Error{"destinationState is no state of a dropout, or there is none for each image"};
      state->settings = settings;
      state->mask_channels = result.channels;
      state->resources.clear();
      state->add_buffer(mask.numbers());
      kept = {state->buffer(0), 0};
      if (!kept.buffer) return Error{"there is no memory for the mask"};
    }
    numbers.first_counter = used.take(mask.numbers());
    encoding.dispatch({fmt::format("dropout_{}", metal_name_of(result.type)), {uint32_t(kept.buffer != nullptr)}},
                      MTL::Size(result.width * result.channels, result.height, 1),
                      threads_along_row(result.width * result.channels), image_of(source, image),
                      image_of(result, image), kept, numbers);
  }
  return success();
}

Status DropoutGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto moved = gradient_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  const ImageTensor& result = task.destination;
  for (size_t image = 0; image < result.images; ++image) {
    auto* state = image < task.states.size() ? shared_part_of<DropoutStatePart>(task.states[image]) : nullptr;
    if (!state || state->resources.empty()) return Error{"gradientState is no state of a dropout that was encoded"};
    if (state->mask_channels < result.channels)
      return Error{
          fmt::format("the dropout had {} channels, and {} are written", state->mask_channels, result.channels)};
    const Mask mask(state->settings, state->clip.size.width, state->clip.size.height, state->mask_channels);
    KernelDropout numbers = for_kernel(state->settings, mask, moved->gradient, result);
    numbers.mask_x = int32_t(clip.origin.x) - int32_t(state->geometry.offset_x);
    numbers.mask_y = int32_t(clip.origin.y) - int32_t(state->geometry.offset_y);
    numbers.mask_width = uint32_t(state->clip.size.width);
    numbers.mask_height = uint32_t(state->clip.size.height);
    encoding.dispatch({fmt::format("dropout_gradient_{}", metal_name_of(result.type)), {0}},
                      MTL::Size(result.width * result.channels, result.height, 1),
                      threads_along_row(result.width * result.channels), image_of(moved->gradient, image),
                      image_of(result, image), Operand{state->buffer(0), 0}, numbers);
  }
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

NS::Data* CNNDropoutGradientState::maskData() const {
  auto* self = shared_part_of<DropoutStatePart>(const_cast<CNNDropoutGradientState*>(this));
  MTL::Buffer* buffer = self && !self->resources.empty() ? self->buffer(0) : nullptr;
  if (!buffer) return nullptr;
  return foundation::autoreleased(NS::Data::alloc()->init(buffer->contents(), self->resources[0].buffer_bytes));
}

#define DROPOUT(Class, Part)                                                                                        \
  Class* Class::alloc() {                                                                                           \
    return new mps::Object<Class, Part>("MPS" #Class);                                                              \
  }                                                                                                                 \
  Class* Class::init(MTL::Device* device, float keepProbability, NS::UInteger seed, MTL::Size maskStrideInPixels) { \
    return mps::init(this, part_of<Part>(this), device, {keepProbability, seed, maskStrideInPixels},                \
                     "-[MPS" #Class " initWithDevice:keepProbability:seed:maskStrideInPixels:]");                   \
  }                                                                                                                 \
  MPS_READONLY(Class, Part, float, keepProbability, settings.keep_probability, (0))                                 \
  MPS_READONLY(Class, Part, NS::UInteger, seed, settings.seed, (0))                                                 \
  MPS_READONLY(Class, Part, MTL::Size, maskStrideInPixels, settings.mask_stride, (0, 0, 0))
DROPOUT(CNNDropout, DropoutPart)
DROPOUT(CNNDropoutGradient, DropoutGradientPart)

}  // namespace MPS
