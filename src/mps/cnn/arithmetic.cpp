#include <fmt/format.h>

#include <MetalPerformanceShaders/MPSCNNMath.hpp>
#include <cfloat>

#include "mps/core/cnn_kernel.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

enum class Operation : uint32_t { add, subtract, multiply, divide };

class ArithmeticPart : public CnnBinaryPart {
 public:
  Operation operation = Operation::add;
  float primary_scale = 1, secondary_scale = 1, bias = 0;
  NS::UInteger primary_channel_stride = 1, secondary_channel_stride = 1;
  float minimum = -FLT_MAX, maximum = FLT_MAX;

  const char* call() const override { return "MPS::CNNArithmetic::encode"; }
  ImageShape result_shape(const ImageShape& primary_image, const ImageShape& secondary_image) const override;
  Status encode_layer(Encoding& encoding, CnnBinaryTask& task) const override;
};

namespace {

// As kernels/arithmetic.metal has it.
struct KernelArithmetic {
  KernelImageTensor primary, secondary, result;
  uint32_t primary_channel_stride, secondary_channel_stride;
  float primary_scale, secondary_scale, bias, minimum, maximum;
};

// A source at the pixels of the result.
struct Source {
  const ImageTensor& tensor;
  const WindowGeometry& window;
  NS::UInteger channel_stride;
  const char* name;
};

Result<ImageTensor> at_result(CnnBinaryTask& task, const Source& source) {
  const ImageTensor& result = task.destination;
  const WindowGeometry& window = source.window;
  if (window.stride_x > 1 || window.stride_y > 1 || source.channel_stride > 1)
    return Error{fmt::format("strides of {} must be 0 or 1", source.name)};
  if (source.channel_stride && source.tensor.channels < result.channels)
    return Error{
        fmt::format("{} has {} channels, and {} are written", source.name, source.tensor.channels, result.channels)};
  if (auto status = check_edge_mode(window.edge_mode, source.name); !status) return Error{status.error()};
  ImageTensor part =
      task.work.shifted(source.tensor, window.offset_x, window.offset_y, window.stride_x ? result.width : 1,
                        window.stride_y ? result.height : 1, window.edge_mode);
  if (!window.stride_x) part.pixel_stride = 0;
  if (!window.stride_y) part.row_stride = 0;
  return part;
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Operation operation, const char* call) {
  auto* self = part_of<ArithmeticPart>(kernel);
  if (self) self->operation = operation;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

ImageShape ArithmeticPart::result_shape(const ImageShape& primary_image, const ImageShape& secondary_image) const {
  ImageShape shape = primary_image;
  if (!primary.stride_x) shape.width = secondary_image.width;
  if (!primary.stride_y) shape.height = secondary_image.height;
  if (!primary_channel_stride) shape.channels = secondary_image.channels;
  return shape;
}

Status ArithmeticPart::encode_layer(Encoding& encoding, CnnBinaryTask& task) const {
  const auto first = at_result(task, {task.primary, primary, primary_channel_stride, "primaryImage"});
  if (!first) return Error{first.error()};
  const auto second = at_result(task, {task.secondary, secondary, secondary_channel_stride, "secondaryImage"});
  if (!second) return Error{second.error()};
  const ImageTensor& result = task.destination;
  encoding.dispatch(
      {fmt::format("arithmetic_{}", metal_name_of(result.type)), {uint32_t(operation)}},
      MTL::Size(result.width * result.channels, result.height, result.images),
      threads_along_row(result.width * result.channels), first->place, second->place, result.place,
      KernelArithmetic{for_kernel(*first), for_kernel(*second), for_kernel(result), uint32_t(primary_channel_stride),
                       uint32_t(secondary_channel_stride), primary_scale, secondary_scale, bias, minimum, maximum});
  return success();
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MPS_PROPERTY(CNNArithmetic, ArithmeticPart, float, primaryScale, setPrimaryScale, primary_scale, (0))
MPS_PROPERTY(CNNArithmetic, ArithmeticPart, float, secondaryScale, setSecondaryScale, secondary_scale, (0))
MPS_PROPERTY(CNNArithmetic, ArithmeticPart, float, bias, setBias, bias, (0))
MPS_NUMBER(CNNArithmetic, ArithmeticPart, primaryStrideInFeatureChannels, setPrimaryStrideInFeatureChannels,
           primary_channel_stride)
MPS_NUMBER(CNNArithmetic, ArithmeticPart, secondaryStrideInFeatureChannels, setSecondaryStrideInFeatureChannels,
           secondary_channel_stride)
MPS_PROPERTY(CNNArithmetic, ArithmeticPart, float, minimumValue, setMinimumValue, minimum, (0))
MPS_PROPERTY(CNNArithmetic, ArithmeticPart, float, maximumValue, setMaximumValue, maximum, (0))

#define ARITHMETIC(Class, operation)                                                          \
  Class* Class::alloc() {                                                                     \
    return new mps::Object<Class, ArithmeticPart>("MPS" #Class);                              \
  }                                                                                           \
  Class* Class::init(MTL::Device* device) {                                                   \
    return mps::init(this, device, Operation::operation, "-[MPS" #Class " initWithDevice:]"); \
  }
ARITHMETIC(CNNAdd, add)
ARITHMETIC(CNNSubtract, subtract)
ARITHMETIC(CNNMultiply, multiply)
ARITHMETIC(CNNDivide, divide)

}  // namespace MPS
