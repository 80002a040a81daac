#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNPooling.hpp>

#include "foundation/misuse.hpp"
#include "mps/core/cnn_kernel.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

enum class PoolingKind { max, average, l2_norm };

// The zeros around the source that an average counts.
struct ZeroPadding {
  NS::UInteger x = 0, y = 0;
};

class PoolingStatePart : public GradientStatePart {
 public:
  ZeroPadding zeros;
};

class PoolingPart : public CnnKernelPart {
 public:
  PoolingKind kind = PoolingKind::max;
  ZeroPadding zeros;

  const char* call() const override { return "MPS::CNNPooling::encode"; }
  NS::SharedPtr<MPS::State> new_state() const override {
    auto* state = new Object<MPS::NNGradientState, PoolingStatePart>("MPSNNGradientState");
    state->zeros = zeros;
    return NS::TransferPtr<MPS::State>(state);
  }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class PoolingGradientPart : public CnnGradientPart {
 public:
  PoolingKind kind = PoolingKind::max;

  const char* call() const override { return "MPS::CNNPoolingGradient::encode"; }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/pool.metal has it.
struct KernelPooling {
  KernelImageTensor source, result;
  int32_t left, top;
  uint32_t kernel_width, kernel_height, stride_x, stride_y, dilation_x, dilation_y;
  uint32_t edge, zeros_x, zeros_y, pixels;
};

KernelPooling for_kernel(const WindowGeometry& window, const ZeroPadding& zeros, const ImageTensor& source,
                         const ImageTensor& result, uint32_t pixels) {
  return {for_kernel(source),
          for_kernel(result),
          int32_t(window.left()),
          int32_t(window.top()),
          uint32_t(window.kernel_width),
          uint32_t(window.kernel_height),
          uint32_t(window.stride_x),
          uint32_t(window.stride_y),
          uint32_t(window.dilation_x),
          uint32_t(window.dilation_y),
          uint32_t(window.edge_mode),
          uint32_t(zeros.x),
          uint32_t(zeros.y),
          pixels};
}

const char* kernel_name_of(PoolingKind kind) {
  return kind == PoolingKind::max ? "max" : kind == PoolingKind::average ? "average" : "l2_norm";
}

Status check(const MTL::Device* device, const WindowGeometry& window) {
  if (!device) return Error{"device is null"};
  if (window.kernel_width == 0 || window.kernel_height == 0) return Error{"kernelWidth and kernelHeight must not be 0"};
  if (window.stride_x == 0 || window.stride_y == 0) return Error{"strideInPixelsX and strideInPixelsY must not be 0"};
  if (window.dilation_x == 0 || window.dilation_y == 0) return Error{"dilationRateX and dilationRateY must not be 0"};
  return success();
}

template <class Interface>
Interface* init(Interface* kernel, PoolingKind kind, MTL::Device* device, const WindowGeometry& window,
                const char* call) {
  if (!kernel) return nullptr;
  if (const Status status = check(device, window); !status) {
    foundation::report_misuse(call, status.error());
    return foundation::failed_init(kernel);
  }
  if (auto* self = shared_part_of<PoolingPart>(kernel)) {
    self->kind = kind;
    self->window = window;
    self->device = NS::RetainPtr(device);
  }
  if (auto* self = shared_part_of<PoolingGradientPart>(kernel)) {
    self->kind = kind;
    self->secondary = window;
    self->device = NS::RetainPtr(device);
  }
  return kernel;
}

}  // namespace

// The constants of kernels/pool.metal.
static std::vector<uint32_t> known(const WindowGeometry& window) {
  const bool is_common = window.kernel_width == window.kernel_height && window.stride_x == 2 && window.stride_y == 2 &&
                         (window.kernel_width == 2 || window.kernel_width == 3) && window.dilation_x == 1 &&
                         window.dilation_y == 1;
  return is_common ? std::vector<uint32_t>{uint32_t(window.kernel_width), 2} : std::vector<uint32_t>{0, 0};
}

// Whether every window has a pixel inside: then what it reads outside by clamping is inside of it, too.
static bool reads_some_of(const ImageTensor& source, const WindowGeometry& window, const ImageTensor& result) {
  const auto is_inside = [](NS::Integer first, size_t count, size_t stride, size_t size, size_t limit) {
    return first + NS::Integer(size) > 0 && first + NS::Integer((count - 1) * stride) < NS::Integer(limit);
  };
  return is_inside(window.left(), result.width, window.stride_x, window.kernel_width, source.width) &&
         is_inside(window.top(), result.height, window.stride_y, window.kernel_height, source.height);
}

// Whether windows give their gradients away, each image by itself, which pays on CPUs where there is enough to do for
// all processors, and where pixels would otherwise look at several windows, or all stays near.
static bool windows_give(const Encoding& encoding, PoolingKind kind, const WindowGeometry& window,
                         const CnnGradientTask& task) {
  constexpr size_t simdgroup = 32, enough = 8;
  const ImageTensor& result = task.destination;
  if (kind != PoolingKind::max || is_gpu(encoding.device()) || task.source.type != MPS::DataTypeFloat32) return false;
  if (window.dilation_x != 1 || window.dilation_y != 1) return false;
  if (window.edge_mode != MPS::ImageEdgeModeZero && window.edge_mode != MPS::ImageEdgeModeClamp) return false;
  return (result.channels + simdgroup - 1) / simdgroup * result.images >= enough &&
         reads_some_of(task.source, window, task.gradient);
}

Status PoolingPart::encode_layer(Encoding& encoding, CnnTask& task) const {
  for (MPS::State* state : task.states)
    if (auto* part = shared_part_of<PoolingStatePart>(state)) part->zeros = zeros;
  const LineThreads lines = threads_over_lines(encoding, task.destination);
  encoding.dispatch({fmt::format("pool_{}_{}", kernel_name_of(kind), metal_name_of(task.source.type)), known(window)},
                    lines.threads, pixel_threadgroup(encoding), task.source.place, task.destination.place,
                    for_kernel(window, zeros, task.source, task.destination, lines.pixels));
  return success();
}

// Whether the windows lie side by side and cover the source, of which the whole gradient is wanted.
static bool are_tiles(const WindowGeometry& window, const CnnGradientTask& task) {
  const ImageTensor& results = task.gradient;
  const auto covers = [&](const ImageTensor& tensor) {
    return tensor.width == results.width * window.kernel_width &&
           tensor.height == results.height * window.kernel_height;
  };
  return window.stride_x == window.kernel_width && window.stride_y == window.kernel_height && window.dilation_x == 1 &&
         window.dilation_y == 1 && window.left() == 0 && window.top() == 0 && covers(task.source) &&
         covers(task.destination);
}

Status PoolingGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto* forward = shared_part_of<PoolingStatePart>(task.states.front());
  if (!forward) return Error{"gradientState is no state of a pooling"};
  if (task.destination.width > task.source.width || task.destination.height > task.source.height ||
      task.destination.channels > task.gradient.channels)
    return Error{"destinationGradient is larger than sourceImage, or has more channels than sourceGradient"};
  const WindowGeometry& window = forward->geometry;
  const bool tiles = are_tiles(window, task);
  if (!tiles && windows_give(encoding, kind, window, task)) {
    encoding.dispatch(
        {"pool_max_gradient_given", known(window)}, MTL::Size(task.destination.channels, task.destination.images, 1),
        MTL::Size(32, 1, 1), task.source.place, task.gradient.place, task.destination.place,
        for_kernel(window, forward->zeros, task.source, task.gradient, 1), mps::for_kernel(task.destination));
    return success();
  }
  ImageTensor done = tiles ? task.gradient : task.destination;
  done.channels = task.destination.channels;
  const LineThreads lines = threads_over_lines(encoding, done);
  encoding.dispatch(
      {fmt::format("pool_{}_gradient_{}{}", kernel_name_of(kind), tiles ? "tiles_" : "",
                   metal_name_of(task.source.type)),
       known(window)},
      lines.threads, pixel_threadgroup(encoding), task.source.place, task.gradient.place, task.destination.place,
      for_kernel(window, forward->zeros, task.source, task.gradient, lines.pixels), mps::for_kernel(task.destination));
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define POOLING(Class, Part, kind)                                                                                 \
  Class* Class::alloc() {                                                                                          \
    return new mps::Object<Class, Part>("MPS" #Class);                                                             \
  }                                                                                                                \
  Class* Class::init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,                     \
                     NS::UInteger strideInPixelsX, NS::UInteger strideInPixelsY) {                                 \
    return mps::init(this, PoolingKind::kind, device,                                                              \
                     {.kernel_width = kernelWidth,                                                                 \
                      .kernel_height = kernelHeight,                                                               \
                      .stride_x = strideInPixelsX,                                                                 \
                      .stride_y = strideInPixelsY},                                                                \
                     "-[MPS" #Class " initWithDevice:kernelWidth:kernelHeight:strideInPixelsX:strideInPixelsY:]"); \
  }
POOLING(CNNPoolingMax, PoolingPart, max)
POOLING(CNNPoolingAverage, PoolingPart, average)
POOLING(CNNPoolingL2Norm, PoolingPart, l2_norm)
POOLING(CNNPoolingMaxGradient, PoolingGradientPart, max)
POOLING(CNNPoolingAverageGradient, PoolingGradientPart, average)
POOLING(CNNPoolingL2NormGradient, PoolingGradientPart, l2_norm)

#define DILATED_POOLING(Class, Part)                                                                            \
  Class* Class::alloc() {                                                                                       \
    return new mps::Object<Class, Part>("MPS" #Class);                                                          \
  }                                                                                                             \
  Class* Class::init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,                  \
                     NS::UInteger dilationRateX, NS::UInteger dilationRateY, NS::UInteger strideInPixelsX,      \
                     NS::UInteger strideInPixelsY) {                                                            \
    return mps::init(this, PoolingKind::max, device,                                                            \
                     {.kernel_width = kernelWidth,                                                              \
                      .kernel_height = kernelHeight,                                                            \
                      .stride_x = strideInPixelsX,                                                              \
                      .stride_y = strideInPixelsY,                                                              \
                      .dilation_x = dilationRateX,                                                              \
                      .dilation_y = dilationRateY},                                                             \
                     "-[MPS" #Class " initWithDevice:kernelWidth:kernelHeight:dilationRateX:dilationRateY:…]"); \
  }
DILATED_POOLING(CNNDilatedPoolingMax, PoolingPart)
DILATED_POOLING(CNNDilatedPoolingMaxGradient, PoolingGradientPart)

MPS_NUMBER(CNNPoolingAverage, PoolingPart, zeroPadSizeX, setZeroPadSizeX, zeros.x)
MPS_NUMBER(CNNPoolingAverage, PoolingPart, zeroPadSizeY, setZeroPadSizeY, zeros.y)

}  // namespace MPS
