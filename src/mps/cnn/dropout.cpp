// Masks lie in the states of images, one for each; those of a batch share a buffer, so that one kernel has them all.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNDropout.hpp>

#include "foundation/misuse.hpp"
#include "mps/cnn/pixel_rows.hpp"
#include "mps/core/counter.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

struct DropoutSettings {
  float keep_probability = 0.5f;
  NS::UInteger seed = 0;
  MTL::Size mask_stride = MTL::Size(1, 1, 1);
};

class DropoutStatePart : public GradientStatePart {
 public:
  size_t mask_channels = 0;  // of the result
  size_t mask_offset = 0;    // in the buffer
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
  uint64_t stride_image;
  uint32_t pixels;
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
          .mask_height = 0,
          .stride_image = mask.numbers(),
          .pixels = 1};
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

// Whether the masks of all images have their places already, from an earlier step, in a buffer that is all theirs.
static bool have_places(const std::vector<MPS::State*>& states, const Mask& mask, size_t images) {
  const MTL::Resource* buffer = nullptr;
  for (size_t image = 0; image < images; ++image) {
    const auto* state = image < states.size() ? shared_part_of<DropoutStatePart>(states[image]) : nullptr;
    if (!state || state->home || state->resources.empty()) return false;
    if (image == 0) buffer = state->resources[0].made.get();
    if (!buffer || state->resources[0].made.get() != buffer || state->mask_offset != image * mask.numbers())
      return false;
  }
  return static_cast<const MTL::Buffer*>(buffer)->length() == mask.numbers() * images;
}

// A buffer for the masks of all images, which their states share.
static Result<Operand> new_masks(const std::vector<MPS::State*>& states, const DropoutSettings& settings,
                                 const Mask& mask, const ImageTensor& result) {
  MTL::Buffer* buffer = nullptr;
  const bool are_there = have_places(states, mask, result.images);
  for (size_t image = 0; image < result.images; ++image) {
    auto* state = image < states.size() ? shared_part_of<DropoutStatePart>(states[image]) : nullptr;
    if (!state) return Error{"destinationState is no state of a dropout, or there is none for each image"};
    state->settings = settings;
    state->mask_channels = result.channels;
    if (are_there) {
      buffer = state->buffer(0);
      continue;
    }
    state->mask_offset = image * mask.numbers();
    state->resources.clear();
    if (!buffer) {
      state->add_buffer(mask.numbers() * result.images);
      buffer = state->buffer(0);
      if (!buffer) return Error{"there is no memory for the masks"};
      state->resources[0].buffer_bytes = mask.numbers();
      state->resources[0].is_shared = result.images > 1;
    } else {
      state->resources.push_back(
          {.buffer_bytes = mask.numbers(), .made = NS::RetainPtr<MTL::Resource>(buffer), .is_shared = true});
    }
  }
  return Operand{buffer};
}

Status DropoutPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor source = source_at_destination(task, window);
  const ImageTensor& result = task.destination;
  const Mask mask(settings, result.width, result.height, result.channels);
  Operand kept;
  if (!task.states.empty()) {
    const auto made = new_masks(task.states, settings, mask, result);
    if (!made) return Error{made.error()};
    kept = *made;
  }
  KernelDropout numbers = for_kernel(settings, mask, source, result);
  numbers.first_counter = used.take(mask.numbers() * result.images);
  const LineThreads lines = threads_over_lines(encoding, result);
  numbers.pixels = lines.pixels;
  const bool few = has_few_channels(result);
  encoding.dispatch({fmt::format("dropout_{}", metal_name_of(result.type)), {kept.buffer != nullptr, few}},
                    few ? threads_over_few_channels(result) : lines.threads, pixel_threadgroup(encoding), source.place,
                    result.place, kept, numbers);
  return success();
}

// Images whose masks follow each other in a buffer are done together.
Status DropoutGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto moved = gradient_at_destination(task, *this);
  if (!moved) return Error{moved.error()};
  const ImageTensor& result = task.destination;
  std::vector<DropoutStatePart*> states;
  for (size_t image = 0; image < result.images; ++image) {
    auto* state = image < task.states.size() ? shared_part_of<DropoutStatePart>(task.states[image]) : nullptr;
    if (!state || state->resources.empty()) return Error{"gradientState is no state of a dropout that was encoded"};
    if (state->mask_channels < result.channels)
      return Error{
          fmt::format("the dropout had {} channels, and {} are written", state->mask_channels, result.channels)};
    states.push_back(state);
  }
  for (size_t first = 0, count = 1; first < states.size(); first += count, count = 1) {
    DropoutStatePart* state = states[first];
    const Mask mask(state->settings, state->clip.size.width, state->clip.size.height, state->mask_channels);
    const auto follows = [&](const DropoutStatePart* next) {
      return next->resources[0].made == state->resources[0].made &&
             next->mask_offset == state->mask_offset + count * mask.numbers();
    };
    while (first + count < states.size() && follows(states[first + count])) ++count;
    KernelDropout numbers = for_kernel(state->settings, mask, moved->gradient, result);
    numbers.mask_x = int32_t(clip.origin.x) - int32_t(state->geometry.offset_x);
    numbers.mask_y = int32_t(clip.origin.y) - int32_t(state->geometry.offset_y);
    numbers.mask_width = uint32_t(state->clip.size.width);
    numbers.mask_height = uint32_t(state->clip.size.height);
    ImageTensor together = result;
    together.images = count;
    const LineThreads lines = threads_over_lines(encoding, together);
    numbers.pixels = lines.pixels;
    const bool few = has_few_channels(together);
    encoding.dispatch({fmt::format("dropout_gradient_{}", metal_name_of(result.type)), {0, few}},
                      few ? threads_over_few_channels(together) : lines.threads, pixel_threadgroup(encoding),
                      image_of(moved->gradient, first), image_of(result, first),
                      Operand{state->buffer(0), state->mask_offset}, numbers);
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
  return foundation::autoreleased(NS::Data::alloc()->init(
      static_cast<std::byte*>(buffer->contents()) + self->mask_offset, self->resources[0].buffer_bytes));
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
