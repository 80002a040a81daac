// The descriptors of losses, and labels: images that are filled when they are made.
#include <fmt/format.h>

#include "foundation/misuse.hpp"
#include "mps/cnn/loss.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {
namespace {

NS::SharedPtr<MPS::Image> new_image(MTL::Device* device, MTL::Size size) {
  return NS::TransferPtr(MPS::Image::alloc()->init(
      device,
      MPS::ImageDescriptor::imageDescriptor(MPS::ImageFeatureChannelFormatFloat32, size.width, size.height, size.depth,
                                            1, MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite)));
}

// An image with the descriptor's numbers.
Result<NS::SharedPtr<MPS::Image>> new_image(MTL::Device* device, const MPS::CNNLossDataDescriptor* descriptor,
                                            const char* name) {
  const auto* described = part_of<LossDataPart>(descriptor);
  const MTL::Size size = described->size;
  const bool by_channel = described->layout == MPS::DataLayoutFeatureChannelsxHeightxWidth;
  const size_t needed = by_channel ? size.depth * described->bytes_per_image : size.height * described->bytes_per_row;
  if (!described->data || described->data->length() < needed)
    return Error{fmt::format("{} has {} bytes, and {} are needed", name,
                             described->data ? described->data->length() : 0, needed)};
  NS::SharedPtr<MPS::Image> image = new_image(device, size);
  if (!image) return Error{fmt::format("there is no memory for {}", name)};
  image->writeBytes(described->data->bytes(), described->layout, described->bytes_per_row, described->bytes_per_image,
                    MTL::Region(0, 0, 0, size.width, size.height, 1), {0, size.depth}, 0);
  return image;
}

MPS::CNNLossLabels* failed(MPS::CNNLossLabels* labels, const std::string& sentence) {
  foundation::report_misuse("-[MPSCNNLossLabels initWithDevice:…]", sentence);
  return foundation::failed_init(labels);
}

MPS::Image* autoreleased(const NS::SharedPtr<MPS::Image>& image) {
  return image ? image->retain()->autorelease() : nullptr;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

CNNLossDataDescriptor* CNNLossDataDescriptor::cnnLossDataDescriptor(const NS::Data* data, DataLayout layout,
                                                                    MTL::Size size) {
  if (!data) {
    foundation::report_misuse("+[MPSCNNLossDataDescriptor cnnLossDataDescriptorWithData:…]", "data is null");
    return nullptr;
  }
  auto* descriptor = new mps::Object<CNNLossDataDescriptor, LossDataPart>("MPSCNNLossDataDescriptor");
  LossDataPart& self = *descriptor;
  self.data = NS::TransferPtr(data->copy());
  self.layout = layout;
  self.size = size;
  const bool by_channel = layout == DataLayoutFeatureChannelsxHeightxWidth;
  self.bytes_per_row = size.width * (by_channel ? 1 : size.depth) * sizeof(float);
  self.bytes_per_image = size.height * self.bytes_per_row;
  return foundation::autoreleased(static_cast<CNNLossDataDescriptor*>(descriptor));
}

MPS_READONLY(CNNLossDataDescriptor, LossDataPart, DataLayout, layout, layout, (DataLayoutHeightxWidthxFeatureChannels))
MPS_READONLY(CNNLossDataDescriptor, LossDataPart, MTL::Size, size, size, (0, 0, 0))
MPS_NUMBER(CNNLossDataDescriptor, LossDataPart, bytesPerRow, setBytesPerRow, bytes_per_row)
MPS_NUMBER(CNNLossDataDescriptor, LossDataPart, bytesPerImage, setBytesPerImage, bytes_per_image)

CNNLossLabels* CNNLossLabels::alloc() {
  return new mps::Object<CNNLossLabels, LossLabelsPart>("MPSCNNLossLabels");
}

CNNLossLabels* CNNLossLabels::init(MTL::Device* device, const CNNLossDataDescriptor* labelsDescriptor) {
  return init(device, MTL::Size(1, 1, 1), labelsDescriptor, nullptr);
}

CNNLossLabels* CNNLossLabels::init(MTL::Device* device, MTL::Size lossImageSize,
                                   const CNNLossDataDescriptor* labelsDescriptor,
                                   const CNNLossDataDescriptor* weightsDescriptor) {
  if (!device) return failed(this, "device is null");
  if (!labelsDescriptor) return failed(this, "labelsDescriptor is null");
  const auto labels = new_image(device, labelsDescriptor, "labelsDescriptor");
  if (!labels) return failed(this, labels.error());
  if (!weightsDescriptor) return init(device, lossImageSize, labels->get(), nullptr);
  const auto weights = new_image(device, weightsDescriptor, "weightsDescriptor");
  if (!weights) return failed(this, weights.error());
  return init(device, lossImageSize, labels->get(), weights->get());
}

CNNLossLabels* CNNLossLabels::init(MTL::Device* device, MTL::Size lossImageSize, Image* labelsImage,
                                   Image* weightsImage) {
  auto* self = part_of<LossLabelsPart>(this);
  if (!self) return nullptr;
  if (!device) return failed(this, "device is null");
  if (!labelsImage) return failed(this, "labelsImage is null");
  self->set_device(device, nullptr);
  self->labels = NS::RetainPtr(labelsImage);
  self->weights = NS::RetainPtr(weightsImage);
  self->loss = new_image(device, lossImageSize);
  return self->loss ? this : failed(this, "there can be no image of lossImageSize");
}

Image* CNNLossLabels::lossImage() const {
  const auto* self = part_of<LossLabelsPart>(this);
  return self ? autoreleased(self->loss) : nullptr;
}
Image* CNNLossLabels::labelsImage() const {
  const auto* self = part_of<LossLabelsPart>(this);
  return self ? autoreleased(self->labels) : nullptr;
}
Image* CNNLossLabels::weightsImage() const {
  const auto* self = part_of<LossLabelsPart>(this);
  return self ? autoreleased(self->weights) : nullptr;
}

CNNLossDescriptor* CNNLossDescriptor::cnnLossDescriptor(CNNLossType lossType, CNNReductionType reductionType) {
  auto* descriptor = new mps::Object<CNNLossDescriptor, LossDescriptorPart>("MPSCNNLossDescriptor");
  descriptor->type = lossType;
  descriptor->reduction = reductionType;
  return foundation::autoreleased(static_cast<CNNLossDescriptor*>(descriptor));
}

#define DESCRIBED(Type, getter, setter, member) \
  MPS_PROPERTY(CNNLossDescriptor, LossDescriptorPart, Type, getter, setter, member, ())
DESCRIBED(CNNLossType, lossType, setLossType, type)
DESCRIBED(CNNReductionType, reductionType, setReductionType, reduction)
DESCRIBED(bool, reduceAcrossBatch, setReduceAcrossBatch, across_batch)
DESCRIBED(float, weight, setWeight, weight)
DESCRIBED(float, labelSmoothing, setLabelSmoothing, label_smoothing)
DESCRIBED(NS::UInteger, numberOfClasses, setNumberOfClasses, classes)
DESCRIBED(float, epsilon, setEpsilon, epsilon)
DESCRIBED(float, delta, setDelta, delta)

}  // namespace MPS
