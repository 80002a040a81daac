#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSNNReduce.hpp>
#include <algorithm>

#include "mps/core/cnn_kernel.hpp"
#include "mps/core/cnn_layer.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

enum class Direction { row, column, channels };
enum class Reduction : uint32_t { min, max, sum, mean, argument_min, argument_max };  // as kernels/reduce.metal has it

class ReducePart : public CnnKernelPart {
 public:
  Direction direction = Direction::row;
  Reduction reduction = Reduction::sum;
  MTL::Region source_clip = MPS::RectNoClip;
  float weight = 1;

  const char* call() const override { return "MPS::NNReduceUnary::encode"; }
  size_t result_channels(size_t channels) const override { return direction == Direction::channels ? 1 : channels; }
  ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const override {
    const MTL::Region region = clipped(source_clip, source);
    ImageShape shape = suggested;
    shape.width = direction == Direction::row ? 1 : region.size.width;
    shape.height = direction == Direction::column ? 1 : region.size.height;
    return shape;
  }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

namespace {

// As kernels/reduce.metal has it.
struct KernelReduce {
  KernelImageTensor source, result;
  uint32_t count, stride;
  float weight;
};

constexpr size_t channels_of_simdgroup = 32;  // from so many on, a SIMD-group takes a pixel

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Direction direction, Reduction reduction, const char* call) {
  auto* self = part_of<ReducePart>(kernel);
  if (self) {
    self->direction = direction;
    self->reduction = reduction;
  }
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Status ReducePart::encode_layer(Encoding& encoding, CnnTask& task) const {
  const ImageTensor& result = task.destination;
  const MTL::Region region =
      clipped(source_clip, {.width = task.source.width, .height = task.source.height, .images = task.source.images});
  const size_t width = direction == Direction::row ? 1 : region.size.width;
  const size_t height = direction == Direction::column ? 1 : region.size.height;
  if (region.size.width == 0 || region.size.height == 0) return Error{"clipRectSource is outside of sourceImage"};
  if (result.width > width || result.height > height)
    return Error{fmt::format("{} x {} pixels of destinationImage are written, and the reduction has {} x {}",
                             result.width, result.height, width, height)};
  const ImageTensor source = task.work.shifted(task.source, NS::Integer(region.origin.x), NS::Integer(region.origin.y),
                                               region.size.width, region.size.height, window.edge_mode);
  const size_t count = direction == Direction::row      ? source.width
                       : direction == Direction::column ? source.height
                                                        : source.channels;
  const size_t stride = direction == Direction::row      ? source.pixel_stride
                        : direction == Direction::column ? source.row_stride
                                                         : 1;
  const KernelReduce numbers{for_kernel(source), for_kernel(result), uint32_t(count), uint32_t(stride), weight};
  const bool is_argument = reduction == Reduction::argument_min || reduction == Reduction::argument_max;
  if (direction == Direction::channels && !is_argument && count >= channels_of_simdgroup) {
    encoding.dispatch({fmt::format("reduce_together_{}", metal_name_of(result.type)), {uint32_t(reduction)}},
                      MTL::Size(32, result.width, result.height * result.images), MTL::Size(32, 1, 1), source.place,
                      result.place, numbers);
    return success();
  }
  encoding.dispatch({fmt::format("reduce_{}", metal_name_of(result.type)), {uint32_t(reduction)}},
                    MTL::Size(result.width * result.channels, result.height, result.images),
                    threads_along_row(result.width * result.channels), source.place, result.place, numbers);
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MPS_PROPERTY(NNReduceUnary, ReducePart, MTL::Region, clipRectSource, setClipRectSource, source_clip, (0, 0, 0, 0))
MPS_PROPERTY(NNReduceFeatureChannelsSum, ReducePart, float, weight, setWeight, weight, (0))

#define REDUCE(Class, direction, reduction)                                                                         \
  Class* Class::alloc() {                                                                                           \
    return new mps::Object<Class, ReducePart>("MPS" #Class);                                                        \
  }                                                                                                                 \
  Class* Class::init(MTL::Device* device) {                                                                         \
    return mps::init(this, device, Direction::direction, Reduction::reduction, "-[MPS" #Class " initWithDevice:]"); \
  }
REDUCE(NNReduceRowMin, row, min)
REDUCE(NNReduceColumnMin, column, min)
REDUCE(NNReduceFeatureChannelsMin, channels, min)
REDUCE(NNReduceFeatureChannelsArgumentMin, channels, argument_min)
REDUCE(NNReduceRowMax, row, max)
REDUCE(NNReduceColumnMax, column, max)
REDUCE(NNReduceFeatureChannelsMax, channels, max)
REDUCE(NNReduceFeatureChannelsArgumentMax, channels, argument_max)
REDUCE(NNReduceRowMean, row, mean)
REDUCE(NNReduceColumnMean, column, mean)
REDUCE(NNReduceFeatureChannelsMean, channels, mean)
REDUCE(NNReduceRowSum, row, sum)
REDUCE(NNReduceColumnSum, column, sum)
REDUCE(NNReduceFeatureChannelsSum, channels, sum)

}  // namespace MPS
