#include "mps/cnn/padding.hpp"

#include <algorithm>

#include "foundation/object.hpp"
#include "foundation/string.hpp"
#include "mps/core/cnn_kernel.hpp"

namespace metalloid::mps {
namespace {

// How far beyond the source windows may reach, in window sizes: valid only, same, full.
NS::Integer reach_of(MPS::NNPaddingMethod method) {
  switch (method & MPS::NNPaddingMethodSizeMask) {
    case MPS::NNPaddingMethodSizeSame:
      return 0;
    case MPS::NNPaddingMethodSizeFull:
      return 1;
    default:
      return -1;
  }
}

NS::Integer enlarged_source(const PaddedAxis& axis) {
  return axis.is_backwards ? NS::Integer((axis.source - 1) * axis.stride + 1) : NS::Integer(axis.source);
}

}  // namespace

size_t padded_result_size(const PaddedAxis& axis, MPS::NNPaddingMethod method) {
  const NS::Integer readable = enlarged_source(axis) + reach_of(method) * NS::Integer(axis.window - 1);
  const NS::Integer stride = axis.is_backwards ? 1 : NS::Integer(axis.stride);
  return size_t(std::max<NS::Integer>((readable + stride - 1) / stride, 0));
}

NS::Integer padded_offset(const PaddedAxis& axis, MPS::NNPaddingMethod method, Axis direction) {
  const NS::Integer center = NS::Integer(axis.window / 2), stride = axis.is_backwards ? 1 : NS::Integer(axis.stride);
  const NS::Integer read = (NS::Integer(padded_result_size(axis, method)) - 1) * stride + NS::Integer(axis.window);
  const NS::Integer missing = read - enlarged_source(axis);  // negative: there is more than is read
  switch (method & MPS::NNPaddingMethodAlignMask) {
    case MPS::NNPaddingMethodAlignTopLeft:
      return center - missing;
    case MPS::NNPaddingMethodAlignBottomRight:
      return center;
    default:
      break;
  }
  const NS::UInteger to_the_far_side =
      direction == Axis::x ? MPS::NNPaddingMethodAddRemainderToTopRight : MPS::NNPaddingMethodAddRemainderToBottomLeft;
  return center - (missing + ((method & to_the_far_side) ? 0 : 1)) / 2;
}

namespace {

class DefaultPaddingObject final : public MPS::NNDefaultPadding {
 public:
  MPS::NNPaddingMethod method = MPS::NNPaddingMethodSizeValidOnly;
  bool averages_inside_only = false;

  MPS::NNPaddingMethod paddingMethod() const override { return method; }
  MPS::ImageDescriptor* destinationImageDescriptor(const NS::Array*, const NS::Array*, MPS::Kernel* kernel,
                                                   MPS::ImageDescriptor* suggestedDescriptor) override {
    if (auto* part = shared_part_of<CnnKernelPart>(kernel); part && averages_inside_only)
      part->window.edge_mode = MPS::ImageEdgeModeClamp;
    return suggestedDescriptor;
  }
  const char* className() const override { return "MPSNNDefaultPadding"; }
};

MPS::NNDefaultPadding* new_padding(NS::UInteger method, bool averages_inside_only) {
  auto* padding = new DefaultPaddingObject;
  padding->method = static_cast<MPS::NNPaddingMethod>(method);
  padding->averages_inside_only = averages_inside_only;
  return foundation::autoreleased(static_cast<MPS::NNDefaultPadding*>(padding));
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

NS::String* NNPadding::label() const {
  return NS::String::string("padding policy", NS::UTF8StringEncoding);
}

ImageDescriptor* NNPadding::destinationImageDescriptor(const NS::Array*, const NS::Array*, Kernel*,
                                                       ImageDescriptor* suggestedDescriptor) {
  return suggestedDescriptor;
}

NNPadding* NNPadding::inverse() {
  return nullptr;
}

NNDefaultPadding* NNDefaultPadding::padding(NNPaddingMethod method) {
  return new_padding(method, false);
}

NNDefaultPadding* NNDefaultPadding::paddingForTensorflowAveragePooling() {
  return new_padding(NNPaddingMethodCustom | NNPaddingMethodSizeSame | NNPaddingMethodAlignCentered |
                         NNPaddingMethodAddRemainderToBottomRight,
                     true);
}

NNDefaultPadding* NNDefaultPadding::paddingForTensorflowAveragePoolingValidOnly() {
  return new_padding(NNPaddingMethodCustom | NNPaddingMethodSizeValidOnly | NNPaddingMethodAlignCentered |
                         NNPaddingMethodAddRemainderToBottomRight,
                     true);
}

}  // namespace MPS
