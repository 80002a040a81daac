// Upsampling and resizing differ in how the size of the result is given: one part serves both.
#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNUpsampling.hpp>
#include <MetalPerformanceShaders/MPSNNResize.hpp>
#include <numeric>

#include "mps/core/cnn_kernel.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

enum class Interpolation : uint32_t { bilinear, nearest };

struct Resampling {
  Interpolation interpolation = Interpolation::bilinear;
  NS::UInteger scale_x = 1, scale_y = 1;  // of the source; or
  NS::UInteger width = 0, height = 0;     // pixels, if not 0
  bool align_corners = false;

  size_t result_width(size_t source) const { return width ? width : source * scale_x; }
  size_t result_height(size_t source) const { return height ? height : source * scale_y; }
};

class ResamplingStatePart : public GradientStatePart {
 public:
  Resampling resampling;
};

class ResamplingPart : public CnnKernelPart {
 public:
  Resampling resampling;
  const char* encode_call = nullptr;

  const char* call() const override { return encode_call; }
  ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const override {
    ImageShape shape = suggested;
    shape.width = resampling.result_width(source.width);
    shape.height = resampling.result_height(source.height);
    return shape;
  }
  NS::SharedPtr<MPS::State> new_state() const override {
    auto* state = new Object<MPS::NNGradientState, ResamplingStatePart>("MPSNNGradientState");
    state->resampling = resampling;
    return NS::TransferPtr<MPS::State>(state);
  }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class ResamplingGradientPart : public CnnGradientPart {
 public:
  Resampling resampling;
  const char* encode_call = nullptr;

  const char* call() const override { return encode_call; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/resample.metal has them.
struct KernelAxis {
  int32_t offset;
  uint32_t step, size;
};
struct KernelResample {
  KernelImageTensor source, result;
  KernelAxis x, y;
};

KernelAxis axis_of(NS::Integer offset, size_t source, size_t result, bool align_corners) {
  const size_t step = align_corners ? source - 1 : source;
  const size_t size = !align_corners ? result : result > 1 ? result - 1 : 1;
  const size_t divisor = std::gcd(step, size);
  return {int32_t(offset), uint32_t(step / divisor), uint32_t(size / divisor)};
}

KernelResample for_kernel(const Resampling& resampling, const WindowGeometry& window, const ImageTensor& source,
                          const ImageTensor& result) {
  return {for_kernel(source), for_kernel(result),
          axis_of(window.offset_x, source.width, resampling.result_width(source.width), resampling.align_corners),
          axis_of(window.offset_y, source.height, resampling.result_height(source.height), resampling.align_corners)};
}

// Whether the kernels' products of places and steps stay within 32 bits.
bool is_too_large(const KernelResample& numbers) {
  const auto exceeds = [](const KernelAxis& axis, uint64_t source, uint64_t result) {
    return (result + 1) * axis.step > UINT32_MAX || (source + 1) * axis.size > UINT32_MAX;
  };
  return exceeds(numbers.x, numbers.source.width, numbers.result.width) ||
         exceeds(numbers.y, numbers.source.height, numbers.result.height);
}

template <class Part, class Interface>
Interface* init(Interface* kernel, MTL::Device* device, const Resampling& resampling, const char* call) {
  auto* self = part_of<Part>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  if (resampling.scale_x == 0 || resampling.scale_y == 0) {
    foundation::report_misuse(call, "integerScaleFactorX and integerScaleFactorY must not be 0");
    return foundation::failed_init(kernel);
  }
  self->resampling = resampling;
  return kernel;
}

}  // namespace

Status ResamplingPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  for (MPS::State* state : task.states)
    if (auto* part = shared_part_of<ResamplingStatePart>(state)) part->resampling = resampling;
  const ImageTensor& result = task.destination;
  const KernelResample numbers = for_kernel(resampling, window, task.source, result);
  if (is_too_large(numbers)) return Error{"sourceImage and destinationImage are too large"};
  encoding.dispatch({fmt::format("resample_{}", metal_name_of(result.type)), {uint32_t(resampling.interpolation)}},
                    threads_over_pixels(result), pixel_threadgroup(encoding), task.source.place, result.place, numbers);
  return success();
}

Status ResamplingGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto* forward = shared_part_of<ResamplingStatePart>(task.states.front());
  if (!forward) return Error{"gradientState is no state of an upsampling"};
  const Resampling& was = forward->resampling;
  if (was.interpolation != resampling.interpolation || was.scale_x != resampling.scale_x ||
      was.scale_y != resampling.scale_y)
    return Error{"gradientState is of an upsampling of another kind or by other factors"};
  const ImageTensor& result = task.destination;
  if (clip.origin.x + result.width > task.source.width || clip.origin.y + result.height > task.source.height ||
      result.channels > task.gradient.channels)
    return Error{"destinationGradient is larger than sourceImage, or has more channels than sourceGradient"};
  const uint32_t origin[] = {uint32_t(clip.origin.x), uint32_t(clip.origin.y)};
  encoding.dispatch({fmt::format("resample_gradient_{}", metal_name_of(result.type)), {uint32_t(was.interpolation)}},
                    threads_over_pixels(result), pixel_threadgroup(encoding), task.gradient.place, result.place,
                    for_kernel(was, forward->geometry, task.source, task.gradient), mps::for_kernel(result), origin);
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define UPSAMPLING(Class, Part, kind)                                                                           \
  Class* Class::alloc() {                                                                                       \
    auto* made = new mps::Object<Class, Part>("MPS" #Class);                                                    \
    made->encode_call = "MPS::" #Class "::encode";                                                              \
    return made;                                                                                                \
  }                                                                                                             \
  Class* Class::init(MTL::Device* device, NS::UInteger integerScaleFactorX, NS::UInteger integerScaleFactorY) { \
    return mps::init<Part>(                                                                                     \
        this, device,                                                                                           \
        {.interpolation = Interpolation::kind, .scale_x = integerScaleFactorX, .scale_y = integerScaleFactorY}, \
        "-[MPS" #Class " initWithDevice:integerScaleFactorX:integerScaleFactorY:]");                            \
  }
UPSAMPLING(CNNUpsamplingNearest, ResamplingPart, nearest)
UPSAMPLING(CNNUpsamplingNearestGradient, ResamplingGradientPart, nearest)
UPSAMPLING(CNNUpsamplingBilinearGradient, ResamplingGradientPart, bilinear)

#define SCALE_FACTORS(Class, Part)                                         \
  MPS_READONLY(Class, Part, double, scaleFactorX, resampling.scale_x, (0)) \
  MPS_READONLY(Class, Part, double, scaleFactorY, resampling.scale_y, (0))
SCALE_FACTORS(CNNUpsampling, ResamplingPart)
SCALE_FACTORS(CNNUpsamplingGradient, ResamplingGradientPart)
MPS_READONLY(CNNUpsampling, ResamplingPart, bool, alignCorners, resampling.align_corners, (false))

CNNUpsamplingBilinear* CNNUpsamplingBilinear::alloc() {
  auto* made = new mps::Object<CNNUpsamplingBilinear, ResamplingPart>("MPSCNNUpsamplingBilinear");
  made->encode_call = "MPS::CNNUpsamplingBilinear::encode";
  return made;
}
CNNUpsamplingBilinear* CNNUpsamplingBilinear::init(MTL::Device* device, NS::UInteger integerScaleFactorX,
                                                   NS::UInteger integerScaleFactorY, bool alignCorners) {
  return mps::init<ResamplingPart>(
      this, device, {.scale_x = integerScaleFactorX, .scale_y = integerScaleFactorY, .align_corners = alignCorners},
      "-[MPSCNNUpsamplingBilinear initWithDevice:integerScaleFactorX:integerScaleFactorY:alignCorners:]");
}

NNResizeBilinear* NNResizeBilinear::alloc() {
  auto* made = new mps::Object<NNResizeBilinear, ResamplingPart>("MPSNNResizeBilinear");
  made->encode_call = "MPS::NNResizeBilinear::encode";
  return made;
}
NNResizeBilinear* NNResizeBilinear::init(MTL::Device* device, NS::UInteger resizeWidth, NS::UInteger resizeHeight,
                                         bool alignCorners) {
  constexpr const char* call = "-[MPSNNResizeBilinear initWithDevice:resizeWidth:resizeHeight:alignCorners:]";
  if (resizeWidth == 0 || resizeHeight == 0) {
    foundation::report_misuse(call, "resizeWidth and resizeHeight must not be 0");
    return foundation::failed_init(this);
  }
  return mps::init<ResamplingPart>(this, device,
                                   {.width = resizeWidth, .height = resizeHeight, .align_corners = alignCorners}, call);
}
MPS_READONLY(NNResizeBilinear, ResamplingPart, NS::UInteger, resizeWidth, resampling.width, (0))
MPS_READONLY(NNResizeBilinear, ResamplingPart, NS::UInteger, resizeHeight, resampling.height, (0))
MPS_READONLY(NNResizeBilinear, ResamplingPart, bool, alignCorners, resampling.align_corners, (false))

}  // namespace MPS
