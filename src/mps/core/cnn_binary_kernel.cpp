// CNNBinaryKernel: all its encode functions come down to encode_binary().
#include <fmt/format.h>

#include <algorithm>

#include "mps/core/cnn_layer.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {
namespace {

CnnBinaryPart* body(const MPS::CNNBinaryKernel* kernel) {
  return shared_part_of<CnnBinaryPart>(const_cast<MPS::CNNBinaryKernel*>(kernel));
}

Result<ImageArea> source_area(std::span<ImageObject* const> images, NS::UInteger channel_offset, NS::UInteger max_count,
                              NS::Integer offset_z, const char* name) {
  ImageArea area = whole(images);
  if (channel_offset >= area.channels)
    return Error{
        fmt::format("{} has {} channels, and its FeatureChannelOffset is {}", name, area.channels, channel_offset)};
  if (offset_z < 0 || size_t(offset_z) >= area.images || (images.size() > 1 && offset_z != 0))
    return Error{fmt::format("the offset's z ({}) is not among the images of {}", offset_z, name)};
  area.first_channel = channel_offset;
  area.channels = std::min<size_t>(max_count, area.channels - channel_offset);
  area.first_image = size_t(offset_z);
  area.images -= area.first_image;
  return area;
}

void record(const CnnBinaryPart& self, const ImageShape& primary, const ImageShape& destination, MPS::State* state) {
  auto* part = shared_part_of<GradientStatePart>(state);
  if (!part) return;
  part->geometry = self.primary;
  part->clip = clipped(self.clip, destination);
  part->source = primary;
  part->destination = destination;
  part->source_channel_offset = self.primary_channel_offset;
  part->destination_channel_offset = self.destination_channel_offset;
}

Status encode(Encoding& encoding, const CnnBinaryPart& self, std::span<ImageObject* const> primaries,
              std::span<ImageObject* const> secondaries, std::span<ImageObject* const> destinations,
              std::vector<MPS::State*> states) {
  if (auto status = check_batch(primaries, "primaryImage"); !status) return status;
  if (auto status = check_batch(secondaries, "secondaryImage"); !status) return status;
  if (auto status = check_batch(destinations, "destinationImage"); !status) return status;
  if (primaries.size() != destinations.size() || secondaries.size() != destinations.size())
    return Error{fmt::format("there are {} primaryImages, {} secondaryImages and {} destinationImages",
                             primaries.size(), secondaries.size(), destinations.size())};
  auto primary_area = source_area(primaries, self.primary_channel_offset, self.primary_channel_max_count,
                                  self.primary_offset_z, "primaryImage");
  if (!primary_area) return Error{primary_area.error()};
  auto secondary_area = source_area(secondaries, self.secondary_channel_offset, self.secondary_channel_max_count,
                                    self.secondary_offset_z, "secondaryImage");
  if (!secondary_area) return Error{secondary_area.error()};
  ImageShape primary_shape = primaries.front()->shape, secondary_shape = secondaries.front()->shape;
  primary_shape.channels = primary_area->channels;
  secondary_shape.channels = secondary_area->channels;
  auto written = destination_area(self, destinations, self.result_shape(primary_shape, secondary_shape).channels);
  if (!written) return Error{written.error()};
  if (destinations.size() == 1)
    primary_area->images = secondary_area->images = written->images =
        std::min({primary_area->images, secondary_area->images, written->images});
  if (written->width == 0 || written->height == 0 || written->images == 0) return success();

  ImageWork work(encoding);
  const MPS::DataType type = work_type_of({primaries, secondaries, destinations});
  const auto primary = work.source(primaries, *primary_area, type);
  if (!primary) return Error{"primaryImage: " + primary.error()};
  const auto secondary = work.source(secondaries, *secondary_area, type);
  if (!secondary) return Error{"secondaryImage: " + secondary.error()};
  const auto destination = work.destination(destinations, *written, type);
  if (!destination) return Error{"destinationImage: " + destination.error()};
  for (MPS::State* state : states) record(self, primaries.front()->shape, destinations.front()->shape, state);
  CnnBinaryTask task{*primary, *secondary, *destination, std::move(states), work};
  if (auto status = self.encode_layer(encoding, task); !status) return status;
  work.finish();
  mark_as_read(primaries);
  mark_as_read(secondaries);
  return success();
}

std::vector<ImageObject*> make_destinations(MPS::CNNBinaryKernel* kernel, MTL::CommandBuffer* command_buffer,
                                            const std::vector<ImageObject*>& primaries,
                                            const std::vector<ImageObject*>& secondaries) {
  CnnBinaryPart* self = body(kernel);
  if (!self || !command_buffer || primaries.empty() || secondaries.empty()) return {};
  if (!primaries.front() || !secondaries.front()) return {};
  MPS::ImageDescriptor* descriptor = kernel->destinationImageDescriptor(
      batch_of(std::vector<ImageObject*>{primaries.front(), secondaries.front()}), nullptr);
  return allocate_images(*self, kernel, command_buffer, descriptor, primaries.size());
}

std::vector<MPS::State*> make_states(MPS::CNNBinaryKernel* kernel, MTL::CommandBuffer* temporary_in,
                                     const std::vector<ImageObject*>& primaries,
                                     const std::vector<ImageObject*>& destinations) {
  CnnBinaryPart* self = body(kernel);
  std::vector<MPS::State*> states;
  for (size_t i = 0; self && i < std::min(primaries.size(), destinations.size()); ++i) {
    if (!primaries[i] || !destinations[i]) return {};
    if (i > 0 && self->state_is_shared()) {
      states.push_back(states.front());
      continue;
    }
    NS::SharedPtr<MPS::State> made = self->new_state();
    if (!made) return {};
    shared_part_of<StatePart>(made.get())->set_device(self->device.get(), temporary_in);
    record(*self, primaries[i]->shape, destinations[i]->shape, made.get());
    states.push_back(made->retain()->autorelease());
  }
  return states;
}

}  // namespace

void encode_binary(MPS::CNNBinaryKernel* kernel, MTL::CommandBuffer* command_buffer,
                   const std::vector<ImageObject*>& primaries, const std::vector<ImageObject*>& secondaries,
                   const std::vector<ImageObject*>& destinations, const std::vector<MPS::State*>& states) {
  CnnBinaryPart* self = body(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, self->call());
  if (encoding) encoding.check(encode(encoding, *self, primaries, secondaries, destinations, states));
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

#define OFFSET_PROPERTY(getter, setter, window, first_image)                                          \
  Offset CNNBinaryKernel::getter() const {                                                            \
    const auto* self = body(this);                                                                    \
    return self ? Offset{self->window.offset_x, self->window.offset_y, self->first_image} : Offset{}; \
  }                                                                                                   \
  void CNNBinaryKernel::setter(Offset offset) {                                                       \
    auto* self = body(this);                                                                          \
    if (!self) return;                                                                                \
    self->window.offset_x = offset.x;                                                                 \
    self->window.offset_y = offset.y;                                                                 \
    self->first_image = offset.z;                                                                     \
  }
OFFSET_PROPERTY(primaryOffset, setPrimaryOffset, primary, primary_offset_z)
OFFSET_PROPERTY(secondaryOffset, setSecondaryOffset, secondary, secondary_offset_z)

#define BINARY_NUMBER(getter, setter, member) MPS_NUMBER(CNNBinaryKernel, CnnBinaryPart, getter, setter, member)
#define BINARY_READONLY(getter, member) MPS_READONLY(CNNBinaryKernel, CnnBinaryPart, NS::UInteger, getter, member, (0))
MPS_PROPERTY(CNNBinaryKernel, CnnBinaryPart, MTL::Region, clipRect, setClipRect, clip, (0, 0, 0, 0))
BINARY_NUMBER(destinationFeatureChannelOffset, setDestinationFeatureChannelOffset, destination_channel_offset)
BINARY_NUMBER(primarySourceFeatureChannelOffset, setPrimarySourceFeatureChannelOffset, primary_channel_offset)
BINARY_NUMBER(secondarySourceFeatureChannelOffset, setSecondarySourceFeatureChannelOffset, secondary_channel_offset)
BINARY_NUMBER(primarySourceFeatureChannelMaxCount, setPrimarySourceFeatureChannelMaxCount, primary_channel_max_count)
BINARY_NUMBER(secondarySourceFeatureChannelMaxCount, setSecondarySourceFeatureChannelMaxCount,
              secondary_channel_max_count)
MPS_PROPERTY(CNNBinaryKernel, CnnBinaryPart, ImageEdgeMode, primaryEdgeMode, setPrimaryEdgeMode, primary.edge_mode,
             (ImageEdgeModeZero))
MPS_PROPERTY(CNNBinaryKernel, CnnBinaryPart, ImageEdgeMode, secondaryEdgeMode, setSecondaryEdgeMode,
             secondary.edge_mode, (ImageEdgeModeZero))
BINARY_READONLY(primaryKernelWidth, primary.kernel_width)
BINARY_READONLY(primaryKernelHeight, primary.kernel_height)
BINARY_READONLY(secondaryKernelWidth, secondary.kernel_width)
BINARY_READONLY(secondaryKernelHeight, secondary.kernel_height)
BINARY_NUMBER(primaryStrideInPixelsX, setPrimaryStrideInPixelsX, primary.stride_x)
BINARY_NUMBER(primaryStrideInPixelsY, setPrimaryStrideInPixelsY, primary.stride_y)
BINARY_NUMBER(secondaryStrideInPixelsX, setSecondaryStrideInPixelsX, secondary.stride_x)
BINARY_NUMBER(secondaryStrideInPixelsY, setSecondaryStrideInPixelsY, secondary.stride_y)
BINARY_READONLY(primaryDilationRateX, primary.dilation_x)
BINARY_READONLY(primaryDilationRateY, primary.dilation_y)
BINARY_READONLY(secondaryDilationRateX, secondary.dilation_x)
BINARY_READONLY(secondaryDilationRateY, secondary.dilation_y)
MPS_READONLY(CNNBinaryKernel, CnnBinaryPart, bool, isBackwards, is_backwards, (false))

bool CNNBinaryKernel::isStateModified() const {
  return false;
}
NNPadding* CNNBinaryKernel::padding() const {
  const auto* self = body(this);
  return self ? padding_of(*self) : nullptr;
}
void CNNBinaryKernel::setPadding(NNPadding* padding) {
  if (auto* self = body(this)) self->padding = NS::RetainPtr(padding);
}
ImageAllocator* CNNBinaryKernel::destinationImageAllocator() const {
  const auto* self = body(this);
  return self ? allocator_of(*self) : nullptr;
}
void CNNBinaryKernel::setDestinationImageAllocator(ImageAllocator* allocator) {
  if (auto* self = body(this)) self->allocator = NS::RetainPtr(allocator);
}

void CNNBinaryKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
                             const Image* destinationImage) {
  encode_binary(this, commandBuffer, {mps::body(primaryImage)}, {mps::body(secondaryImage)},
                {mps::body(destinationImage)}, {});
}

Image* CNNBinaryKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage,
                               const Image* secondaryImage) {
  return encode(commandBuffer, primaryImage, secondaryImage, nullptr, false);
}

Image* CNNBinaryKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage,
                               const Image* secondaryImage, State** destinationState,
                               bool destinationStateIsTemporary) {
  const std::vector<ImageObject*> primaries = {mps::body(primaryImage)}, secondaries = {mps::body(secondaryImage)};
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, primaries, secondaries);
  if (destinations.empty()) return nullptr;
  std::vector<State*> states;
  if (destinationState) {
    states = make_states(this, destinationStateIsTemporary ? commandBuffer : nullptr, primaries, destinations);
    *destinationState = states.empty() ? nullptr : states.front();
  }
  encode_binary(this, commandBuffer, primaries, secondaries, destinations, states);
  return destinations.front();
}

void CNNBinaryKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                                  const ImageBatch* secondaryImages, const ImageBatch* destinationImages) {
  encode_binary(this, commandBuffer, images_of(primaryImages), images_of(secondaryImages), images_of(destinationImages),
                {});
}

ImageBatch* CNNBinaryKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                                         const ImageBatch* secondaryImages) {
  return encodeBatch(commandBuffer, primaryImages, secondaryImages, nullptr, false);
}

ImageBatch* CNNBinaryKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                                         const ImageBatch* secondaryImages, StateBatch** destinationStates,
                                         bool destinationStateIsTemporary) {
  const std::vector<ImageObject*> primaries = images_of(primaryImages), secondaries = images_of(secondaryImages);
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, primaries, secondaries);
  if (destinations.empty()) return nullptr;
  std::vector<State*> states;
  if (destinationStates) {
    states = make_states(this, destinationStateIsTemporary ? commandBuffer : nullptr, primaries, destinations);
    *destinationStates = batch_of(states);
  }
  encode_binary(this, commandBuffer, primaries, secondaries, destinations, states);
  return batch_of(destinations);
}

State* CNNBinaryKernel::resultState(const Image* primaryImage, const Image*, const NS::Array*,
                                    const Image* destinationImage) {
  const auto states = make_states(this, nullptr, {mps::body(primaryImage)}, {mps::body(destinationImage)});
  return states.empty() ? nullptr : states.front();
}

StateBatch* CNNBinaryKernel::resultStateBatch(const ImageBatch* primaryImage, const ImageBatch*, const NS::Array*,
                                              const ImageBatch* destinationImage) {
  return batch_of(make_states(this, nullptr, images_of(primaryImage), images_of(destinationImage)));
}

State* CNNBinaryKernel::temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image*,
                                             const NS::Array*, const Image* destinationImage) {
  const auto states = make_states(this, commandBuffer, {mps::body(primaryImage)}, {mps::body(destinationImage)});
  return states.empty() ? nullptr : states.front();
}

StateBatch* CNNBinaryKernel::temporaryResultStateBatch(MTL::CommandBuffer* commandBuffer,
                                                       const ImageBatch* primaryImage, const ImageBatch*,
                                                       const NS::Array*, const ImageBatch* destinationImage) {
  return batch_of(make_states(this, commandBuffer, images_of(primaryImage), images_of(destinationImage)));
}

bool CNNBinaryKernel::isResultStateReusedAcrossBatch() const {
  const auto* self = body(this);
  return self && self->state_is_shared();
}

bool CNNBinaryKernel::appendBatchBarrier() const {
  return false;
}

ImageDescriptor* CNNBinaryKernel::destinationImageDescriptor(const NS::Array* sourceImages,
                                                             const NS::Array* sourceStates) {
  auto* self = body(this);
  const std::vector<ImageObject*> sources = images_of(sourceImages);
  if (!self || sources.size() < 2 || !sources[0] || !sources[1]) return nullptr;
  ImageShape shape = self->result_shape(sources[0]->shape, sources[1]->shape);
  shape.channels += self->destination_channel_offset;
  ImageDescriptor* descriptor =
      ImageDescriptor::imageDescriptor(shape.format, shape.width, shape.height, shape.channels, shape.images,
                                       MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
  NNPadding* padding = padding_of(*self);
  return padding->paddingMethod() & NNPaddingMethodCustom
             ? padding->destinationImageDescriptor(sourceImages, sourceStates, this, descriptor)
             : descriptor;
}

}  // namespace MPS
