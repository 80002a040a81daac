#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNNormalization.hpp>

#include "foundation/misuse.hpp"
#include "mps/core/cnn_kernel.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

// The energy of a window is its mean square, its contrast the variance.
enum class Local : uint32_t { energy, contrast };

struct LocalNormalization {
  Local kind = Local::energy;
  NS::UInteger width = 1, height = 1, channels = 1;  // of the window
  float alpha = 1, beta = 5, delta = 1, p0 = 0, pm = 0, ps = 1;
};

class LocalNormalizationPart : public CnnKernelPart {
 public:
  LocalNormalization normalization;
  const char* encode_call = nullptr;

  const char* call() const override { return encode_call; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class LocalNormalizationGradientPart : public CnnGradientPart {
 public:
  LocalNormalization normalization;
  const char* encode_call = nullptr;

  const char* call() const override { return encode_call; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/local_normalization.metal has it.
struct KernelLocalNormalization {
  KernelImageTensor source, result;
  int32_t x, y;
  uint32_t width, height, channels, edge;
  float alpha, beta, delta, p0, pm, ps;
};

KernelLocalNormalization for_kernel(const LocalNormalization& n, NS::Integer x, NS::Integer y, MPS::ImageEdgeMode edge,
                                    const ImageTensor& source, const ImageTensor& result) {
  return {for_kernel(source),
          for_kernel(result),
          int32_t(x),
          int32_t(y),
          uint32_t(n.width),
          uint32_t(n.height),
          uint32_t(n.channels),
          uint32_t(edge),
          n.alpha,
          n.beta,
          n.delta,
          n.p0,
          n.pm,
          n.ps};
}

KernelFunction function_of(const char* name, const LocalNormalization& normalization, const ImageTensor& tensor) {
  return {fmt::format("{}_{}", name, metal_name_of(tensor.type)), {uint32_t(normalization.kind)}};
}

WindowGeometry& window_of(LocalNormalizationPart& part) {
  return part.window;
}
WindowGeometry& window_of(LocalNormalizationGradientPart& part) {
  return part.secondary;
}

template <class Part, class Interface>
Interface* init(Interface* kernel, MTL::Device* device, const LocalNormalization& normalization, const char* call) {
  auto* self = part_of<Part>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  if (normalization.width == 0 || normalization.height == 0 || normalization.channels == 0) {
    foundation::report_misuse(call, "the kernel's sizes must not be 0");
    return foundation::failed_init(kernel);
  }
  self->normalization = normalization;
  window_of(*self) = {.kernel_width = normalization.width, .kernel_height = normalization.height};
  return kernel;
}

LocalNormalization energy(NS::UInteger width, NS::UInteger height, NS::UInteger channels) {
  return {.width = width, .height = height, .channels = channels};
}

LocalNormalization contrast(NS::UInteger width, NS::UInteger height) {
  return {.kind = Local::contrast,
          .width = width,
          .height = height,
          .alpha = 0,
          .beta = 0.5f,
          .delta = 1.0f / 1024,
          .p0 = 1};
}

}  // namespace

Status LocalNormalizationPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor& result = task.destination;
  encoding.dispatch(function_of("local_normalization", normalization, result), threads_over_pixels(result),
                    pixel_threadgroup(encoding), task.source.place, result.place,
                    for_kernel(normalization, task.offset_x, task.offset_y, window.edge_mode, task.source, result));
  return success();
}

Status LocalNormalizationGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const WindowGeometry& forward = task.forward.geometry;
  const ImageTensor &source = task.source, &result = task.destination;
  if (forward.edge_mode != MPS::ImageEdgeModeZero)
    return Error{"the forward pass read outside of sourceImage by another edgeMode than zero"};
  if (clip.origin.x + result.width > source.width || clip.origin.y + result.height > source.height ||
      source.channels > task.gradient.channels)
    return Error{"destinationGradient is larger than sourceImage, or sourceGradient has fewer channels"};
  const ImageTensor gradient = task.work.shifted(task.gradient, -forward.offset_x, -forward.offset_y, source.width,
                                                 source.height, MPS::ImageEdgeModeZero);
  const Operand parts =
      encoding.scratch(3 * source.images * source.height * source.width * source.channels * sizeof(float));
  encoding.dispatch(function_of("local_normalization_parts", normalization, source), threads_over_pixels(source),
                    pixel_threadgroup(encoding), source.place, gradient.place, parts,
                    for_kernel(normalization, 0, 0, MPS::ImageEdgeModeZero, source, gradient));
  encoding.dispatch(function_of("local_normalization_gradient", normalization, result), threads_over_pixels(result),
                    pixel_threadgroup(encoding), source.place, parts, result.place,
                    for_kernel(normalization, NS::Integer(clip.origin.x), NS::Integer(clip.origin.y),
                               MPS::ImageEdgeModeZero, source, result));
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define LOCAL_FLOAT(Class, Part, getter, setter) \
  MPS_PROPERTY(Class, Part, float, getter, setter, normalization.getter, (0))
#define LOCAL_CLASS(Class, Part)                             \
  Class* Class::alloc() {                                    \
    auto* made = new mps::Object<Class, Part>("MPS" #Class); \
    made->encode_call = "MPS::" #Class "::encode";           \
    return made;                                             \
  }                                                          \
  LOCAL_FLOAT(Class, Part, alpha, setAlpha)                  \
  LOCAL_FLOAT(Class, Part, beta, setBeta)                    \
  LOCAL_FLOAT(Class, Part, delta, setDelta)

#define SPATIAL(Class, Part)                                                                     \
  LOCAL_CLASS(Class, Part)                                                                       \
  Class* Class::init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight) { \
    return mps::init<Part>(this, device, energy(kernelWidth, kernelHeight, 1),                   \
                           "-[MPS" #Class " initWithDevice:kernelWidth:kernelHeight:]");         \
  }
SPATIAL(CNNSpatialNormalization, LocalNormalizationPart)
SPATIAL(CNNSpatialNormalizationGradient, LocalNormalizationGradientPart)

#define CROSS_CHANNEL(Class, Part)                                                                                 \
  LOCAL_CLASS(Class, Part)                                                                                         \
  Class* Class::init(MTL::Device* device, NS::UInteger kernelSize) {                                               \
    return mps::init<Part>(this, device, energy(1, 1, kernelSize), "-[MPS" #Class " initWithDevice:kernelSize:]"); \
  }                                                                                                                \
  MPS_READONLY(Class, Part, NS::UInteger, kernelSize, normalization.channels, (0))
CROSS_CHANNEL(CNNCrossChannelNormalization, LocalNormalizationPart)
CROSS_CHANNEL(CNNCrossChannelNormalizationGradient, LocalNormalizationGradientPart)

#define LOCAL_CONTRAST(Class, Part)                                                              \
  LOCAL_CLASS(Class, Part)                                                                       \
  Class* Class::init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight) { \
    return mps::init<Part>(this, device, contrast(kernelWidth, kernelHeight),                    \
                           "-[MPS" #Class " initWithDevice:kernelWidth:kernelHeight:]");         \
  }                                                                                              \
  LOCAL_FLOAT(Class, Part, p0, setP0)                                                            \
  LOCAL_FLOAT(Class, Part, pm, setPm)                                                            \
  LOCAL_FLOAT(Class, Part, ps, setPs)
LOCAL_CONTRAST(CNNLocalContrastNormalization, LocalNormalizationPart)
LOCAL_CONTRAST(CNNLocalContrastNormalizationGradient, LocalNormalizationGradientPart)

}  // namespace MPS
