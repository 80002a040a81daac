#include <fmt/format.h>

#include <algorithm>

#include "mps/cnn/arithmetic.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/pixel_threads.hpp"
#include "mps/core/properties.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {

class ArithmeticGradientPart : public CnnGradientPart {
 public:
  Operation operation = Operation::add;
  bool is_of_secondary = false;
  float primary_scale = 1, secondary_scale = 1, bias = 0;
  NS::UInteger secondary_channel_stride = 1;
  float minimum = -FLT_MAX, maximum = FLT_MAX;
  const char* encode_call = nullptr;

  const char* call() const override { return encode_call; }
  // That of the image whose gradient it is.
  ImageShape gradient_shape(const ImageShape& suggested, const GradientStatePart* forward) const override {
    const auto* state = dynamic_cast<const ArithmeticStatePart*>(forward);
    if (!state) return suggested;
    const ArithmeticSource& image = is_of_secondary ? state->secondary : state->primary;
    ImageShape shape = suggested;
    shape.width = image.width;
    shape.height = image.height;
    shape.channels = image.channels;
    return shape;
  }
  Status encode_gradient(Encoding& encoding, CnnGradientTask& task) const override;
};

namespace {

// As kernels/arithmetic.metal has it.
struct KernelArithmeticGradient {
  KernelImageTensor gradient, other, result;
  uint32_t other_channel_stride;
  int32_t x, y;
  uint32_t repeats_x, repeats_y, repeats_channels;
  float factor;
  uint32_t parts;
};

}  // namespace

Status ArithmeticGradientPart::encode_gradient(Encoding& encoding, CnnGradientTask& task) const {
  const auto* forward = shared_part_of<ArithmeticStatePart>(task.states.front());
  if (!forward || forward->operation != operation) return Error{"gradientState is of another operation"};
  if (forward->has_limits)
    return Error{"the forward pass had a minimumValue or maximumValue, which these gradients do not know"};
  const ArithmeticSource& own = is_of_secondary ? forward->secondary : forward->primary;
  const ArithmeticSource& others = is_of_secondary ? forward->primary : forward->secondary;
  const ImageTensor &gradient = task.gradient, &result = task.destination;
  const bool multiplies = operation == Operation::multiply;
  ImageTensor other = gradient;
  if (multiplies) {
    const auto found = at_result(task.work, task.source, gradient, others.window, others.channel_stride, "sourceImage");
    if (!found) return Error{found.error()};
    other = *found;
  }
  const bool repeats_x = !own.window.stride_x, repeats_y = !own.window.stride_y, repeats_channels = !own.channel_stride;
  if (!repeats_channels && result.channels > gradient.channels)
    return Error{fmt::format("sourceGradient has {} channels, and {} are written", gradient.channels, result.channels)};
  // Rows that are summed are shared by threads.
  const size_t parts = repeats_y ? std::min<size_t>(gradient.height, is_gpu(encoding.device()) ? 256 : 32) : 1;
  const KernelArithmeticGradient numbers{for_kernel(gradient),
                                         for_kernel(other),
                                         for_kernel(result),
                                         multiplies ? uint32_t(others.channel_stride) : 0,
                                         int32_t(clip.origin.x) - int32_t(own.window.offset_x),
                                         int32_t(clip.origin.y) - int32_t(own.window.offset_y),
                                         repeats_x,
                                         repeats_y,
                                         repeats_channels,
                                         primary_scale * (multiplies ? secondary_scale : 1),
                                         uint32_t(parts)};
  const char* type = metal_name_of(result.type);
  const auto constants = std::vector<uint32_t>{uint32_t(operation), 0, uint32_t(parts > 1)};
  MTL::Size threads = threads_over_pixels(result);
  threads.depth *= parts;
  const size_t row = result.width * result.channels;
  const Operand partial =
      parts > 1 ? encoding.scratch(parts * result.images * result.height * row * sizeof(float)) : Operand{};
  encoding.dispatch({fmt::format("arithmetic_gradient_{}", type), constants}, threads, pixel_threadgroup(encoding),
                    gradient.place, other.place, result.place, partial, numbers);
  if (parts > 1)
    encoding.dispatch({fmt::format("arithmetic_gradient_sum_{}", type), constants},
                      MTL::Size(row, result.height, result.images), threads_along_row(row), partial, result.place,
                      numbers);
  return success();
}

namespace {

template <class Interface>
Interface* init(Interface* kernel, MTL::Device* device, Operation operation, bool is_of_secondary, const char* call) {
  auto* self = part_of<ArithmeticGradientPart>(kernel);
  if (self) {
    self->operation = operation;
    self->is_of_secondary = is_of_secondary;
    if (operation == Operation::subtract && is_of_secondary) self->primary_scale = -1;
  }
  return init_kernel(kernel, self, device, call);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define GRADIENT_FLOAT(getter, setter, member) \
  MPS_PROPERTY(CNNArithmeticGradient, ArithmeticGradientPart, float, getter, setter, member, (0))
GRADIENT_FLOAT(primaryScale, setPrimaryScale, primary_scale)
GRADIENT_FLOAT(secondaryScale, setSecondaryScale, secondary_scale)
GRADIENT_FLOAT(bias, setBias, bias)
GRADIENT_FLOAT(minimumValue, setMinimumValue, minimum)
GRADIENT_FLOAT(maximumValue, setMaximumValue, maximum)
MPS_NUMBER(CNNArithmeticGradient, ArithmeticGradientPart, secondaryStrideInFeatureChannels,
           setSecondaryStrideInFeatureChannels, secondary_channel_stride)
MPS_READONLY(CNNArithmeticGradient, ArithmeticGradientPart, bool, isSecondarySourceFilter, is_of_secondary, (false))

#define ARITHMETIC_GRADIENT(Class, operation)                                     \
  Class* Class::alloc() {                                                         \
    auto* made = new mps::Object<Class, ArithmeticGradientPart>("MPS" #Class);    \
    made->encode_call = "MPS::" #Class "::encode";                                \
    return made;                                                                  \
  }                                                                               \
  Class* Class::init(MTL::Device* device, bool isSecondarySourceFilter) {         \
    return mps::init(this, device, Operation::operation, isSecondarySourceFilter, \
                     "-[MPS" #Class " initWithDevice:isSecondarySourceFilter:]"); \
  }
ARITHMETIC_GRADIENT(CNNAddGradient, add)
ARITHMETIC_GRADIENT(CNNSubtractGradient, subtract)
ARITHMETIC_GRADIENT(CNNMultiplyGradient, multiply)

}  // namespace MPS
