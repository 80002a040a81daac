#include "mps/cnn/arithmetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mps/core/cnn_layer.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

namespace {

// As kernels/arithmetic.metal has it.
struct KernelArithmetic {
  KernelImageTensor primary, secondary, result;
  float primary_scale, secondary_scale, bias, minimum, maximum, threshold;
};

ArithmeticSource source_of(const ImageTensor& tensor, const WindowGeometry& window, NS::UInteger channel_stride) {
  return {tensor.width, tensor.height, tensor.channels, window, channel_stride};
}

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Operation operation, const char* call) {
  auto* self = part_of<ArithmeticPart>(kernel);
  if (self) self->operation = operation;
  return init_kernel(kernel, self, device, call);
}

}  // namespace

Result<ImageTensor> at_result(ImageWork& work, const ImageTensor& source, const ImageTensor& result,
                              const WindowGeometry& window, NS::UInteger channel_stride, const char* name) {
  if (window.stride_x > 1 || window.stride_y > 1 || channel_stride > 1)
    return Error{fmt::format("strides of {} must be 0 or 1", name)};
  if (channel_stride && source.channels < result.channels)
    return Error{fmt::format("{} has {} channels, and {} are written", name, source.channels, result.channels)};
  if (auto status = check_edge_mode(window.edge_mode, name); !status) return Error{status.error()};
  ImageTensor part = work.shifted(source, window.offset_x, window.offset_y, window.stride_x ? result.width : 1,
                                  window.stride_y ? result.height : 1, window.edge_mode);
  if (!window.stride_x) part.pixel_stride = 0;
  if (!window.stride_y) part.row_stride = 0;
  return part;
}

NS::SharedPtr<MPS::State> ArithmeticPart::new_state() const {
  return NS::TransferPtr<MPS::State>(
      new Object<MPS::CNNArithmeticGradientState, ArithmeticStatePart>("MPSCNNArithmeticGradientState"));
}

ImageShape ArithmeticPart::result_shape(const ImageShape& primary_image, const ImageShape& secondary_image) const {
  ImageShape shape = primary_image;
  if (!primary.stride_x) shape.width = secondary_image.width;
  if (!primary.stride_y) shape.height = secondary_image.height;
  if (!primary_channel_stride) shape.channels = secondary_image.channels;
  return shape;
}

Status ArithmeticPart::encode_layer(Encoding& encoding, CnnBinaryTask& task) const {
  const ImageTensor& result = task.destination;
  const auto first = at_result(task.work, task.primary, result, primary, primary_channel_stride, "primaryImage");
  if (!first) return Error{first.error()};
  const auto second =
      at_result(task.work, task.secondary, result, secondary, secondary_channel_stride, "secondaryImage");
  if (!second) return Error{second.error()};
  for (MPS::State* state : task.states) {
    auto* part = shared_part_of<ArithmeticStatePart>(state);
    if (!part) return Error{"destinationState is no state of arithmetic"};
    part->source_channel_offset = 0;  // each gradient chooses the channels of the image that it is given
    part->operation = operation;
    part->primary = source_of(task.primary, primary, primary_channel_stride);
    part->secondary = source_of(task.secondary, secondary, secondary_channel_stride);
    part->has_limits = minimum != -FLT_MAX || maximum != FLT_MAX;
  }
  std::array tensors = {*first, *second, result};
  const auto pixels_follow = [&](const ImageTensor& tensor) { return tensor.pixel_stride == result.channels; };
  if (primary_channel_stride && secondary_channel_stride && std::ranges::all_of(tensors, pixels_follow))
    for (ImageTensor& tensor : tensors) {
      tensor.channels = result.width * result.channels;
      tensor.width = 1;
    }
  const auto& [x, y, sum] = tensors;
  encoding.dispatch({fmt::format("arithmetic_{}", metal_name_of(result.type)),
                     {uint32_t(operation), uint32_t(comparison), 0, uint32_t(primary_channel_stride),
                      uint32_t(secondary_channel_stride)}},
                    threads_over_pixels(sum), threads_along_row(sum.channels), x.place, y.place, sum.place,
                    KernelArithmetic{for_kernel(x), for_kernel(y), for_kernel(sum), primary_scale, secondary_scale,
                                     bias, minimum, maximum, threshold});
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

ARITHMETIC(NNCompare, compare)
MPS_PROPERTY(NNCompare, ArithmeticPart, NNComparisonType, comparisonType, setComparisonType, comparison,
             (NNComparisonTypeEqual))
MPS_PROPERTY(NNCompare, ArithmeticPart, float, threshold, setThreshold, threshold, (0))

void CNNArithmetic::encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
                           const CNNArithmeticGradientState* destinationState, const Image* destinationImage) {
  std::vector<State*> states;
  if (destinationState) states.push_back(const_cast<CNNArithmeticGradientState*>(destinationState));
  encode_binary(this, commandBuffer, {mps::body(primaryImage)}, {mps::body(secondaryImage)},
                {mps::body(destinationImage)}, states);
}

void CNNArithmetic::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                                const ImageBatch* secondaryImages,
                                const CNNArithmeticGradientStateBatch* destinationStates,
                                const ImageBatch* destinationImages) {
  encode_binary(this, commandBuffer, images_of(primaryImages), images_of(secondaryImages), images_of(destinationImages),
                states_of(destinationStates));
}

}  // namespace MPS
