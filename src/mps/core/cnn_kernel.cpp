// CNNKernel: all its encode functions come down to encode_batch().
#include "mps/core/cnn_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "foundation/misuse.hpp"
#include "mps/cnn/padding.hpp"
#include "mps/core/cnn_layer.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {

NS::SharedPtr<MPS::State> LayerPart::new_state() const {
  return NS::TransferPtr<MPS::State>(new Object<MPS::NNGradientState, GradientStatePart>("MPSNNGradientState"));
}

namespace {

CnnKernelPart* body(const MPS::CNNKernel* kernel) {
  return shared_part_of<CnnKernelPart>(const_cast<MPS::CNNKernel*>(kernel));
}

// The channels that a layer reads of its source.
Result<size_t> source_channels(const CnnKernelPart& self, const ImageShape& source) {
  if (self.source_channel_offset >= source.channels)
    return Error{fmt::format("sourceFeatureChannelOffset ({}) is beyond the {} channels of sourceImage",
                             self.source_channel_offset, source.channels)};
  return std::min<size_t>(self.source_channel_max_count, source.channels - self.source_channel_offset);
}

void record(const CnnKernelPart& self, const ImageShape& source, const ImageShape& destination, MPS::State* state) {
  auto* part = shared_part_of<GradientStatePart>(state);
  if (!part) return;
  part->geometry = self.window;
  part->clip = clipped(self.clip, destination);
  part->source = source;
  part->destination = destination;
  part->source_channel_offset = self.source_channel_offset;
  part->destination_channel_offset = self.destination_channel_offset;
}

Status encode(Encoding& encoding, const CnnKernelPart& self, std::span<ImageObject* const> sources,
              std::span<ImageObject* const> destinations, std::vector<MPS::State*> states) {
  if (auto status = check_batch(sources, "sourceImage"); !status) return status;
  if (auto status = check_batch(destinations, "destinationImage"); !status) return status;
  if (!self.takes_constant_edges() || self.window.edge_mode != MPS::ImageEdgeModeConstant)
    if (auto status = check_edge_mode(self.window.edge_mode, "edgeMode"); !status) return status;
  if (sources.size() != destinations.size())
    return Error{
        fmt::format("there are {} sourceImages and {} destinationImages", sources.size(), destinations.size())};
  const auto channels = source_channels(self, sources.front()->shape);
  if (!channels) return Error{channels.error()};

  ImageArea read = whole(sources);
  read.first_channel = self.source_channel_offset;
  read.channels = *channels;
  const size_t all_channels = destinations.front()->shape.channels;
  auto written = destination_area(self, destinations,
                                  self.writes_all_channels()
                                      ? all_channels - std::min<size_t>(all_channels, self.destination_channel_offset)
                                      : self.result_channels(*channels));
  if (!written) return Error{written.error()};
  if (sources.size() == 1) {
    if (self.offset_z < 0 || size_t(self.offset_z) >= read.images)
      return Error{fmt::format("offset.z ({}) is not among the {} images of sourceImage", self.offset_z, read.images)};
    read.first_image = size_t(self.offset_z);
    read.images = written->images = std::min(read.images - read.first_image, written->images);
  }
  if (written->width == 0 || written->height == 0 || written->images == 0) return success();

  ImageWork work(encoding);
  const MPS::DataType type = work_type_of({sources, destinations});
  const auto source = work.source(sources, read, type);
  if (!source) return Error{"sourceImage: " + source.error()};
  const auto destination = work.destination(destinations, *written, type);
  if (!destination) return Error{"destinationImage: " + destination.error()};
  for (size_t i = 0; i < states.size(); ++i)
    if (i == 0 || states[i] != states[i - 1])
      record(self, sources.front()->shape, destinations.front()->shape, states[i]);
  const bool in_place = self.works_in_place() && source->place == destination->place;
  const ImageTensor apart = in_place ? *source : work.apart(*source, *destination);
  CnnTask task{apart, *destination, self.window.offset_x, self.window.offset_y, std::move(states), work};
  if (auto status = self.encode_layer(encoding, task); !status) return status;
  work.finish();
  mark_as_read(sources);
  return success();
}

void encode_batch(MPS::CNNKernel* kernel, MTL::CommandBuffer* command_buffer, const std::vector<ImageObject*>& sources,
                  const std::vector<ImageObject*>& destinations, const std::vector<MPS::State*>& states) {
  CnnKernelPart* self = body(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, self->call());
  if (!encoding) return;
  encoding.check(encode(encoding, *self, sources, destinations, states));
}

// Images that fit the result, by the padding policy, which places the first window too.
std::vector<ImageObject*> make_destinations(MPS::CNNKernel* kernel, MTL::CommandBuffer* command_buffer,
                                            const std::vector<ImageObject*>& sources) {
  CnnKernelPart* self = body(kernel);
  if (!self || !command_buffer || sources.empty() || !sources.front()) return {};
  MPS::ImageDescriptor* descriptor = kernel->destinationImageDescriptor(batch_of(sources), nullptr);
  return descriptor ? allocate_images(*self, kernel, command_buffer, descriptor, sources.size())
                    : std::vector<ImageObject*>();
}

// One for each source: the same one where the batch shares it.
std::vector<MPS::State*> make_states(MPS::CNNKernel* kernel, MTL::CommandBuffer* temporary_in,
                                     const std::vector<ImageObject*>& sources,
                                     const std::vector<ImageObject*>& destinations) {
  CnnKernelPart* self = body(kernel);
  std::vector<MPS::State*> states;
  for (size_t i = 0; self && i < std::min(sources.size(), destinations.size()); ++i) {
    if (!sources[i] || !destinations[i]) return {};
    if (i == 0 || !self->state_is_shared()) {
      NS::SharedPtr<MPS::State> made = self->new_state();
      if (!made) return {};
      shared_part_of<StatePart>(made.get())->set_device(self->device.get(), temporary_in);
      record(*self, sources[i]->shape, destinations[i]->shape, made.get());
      states.push_back(made->retain()->autorelease());
    } else {
      states.push_back(states.front());
    }
  }
  return states;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

Offset CNNKernel::offset() const {
  const auto* self = body(this);
  return self ? Offset{self->window.offset_x, self->window.offset_y, self->offset_z} : Offset{};
}
void CNNKernel::setOffset(Offset offset) {
  auto* self = body(this);
  if (!self) return;
  self->window.offset_x = offset.x;
  self->window.offset_y = offset.y;
  self->offset_z = offset.z;
}
MPS_PROPERTY(CNNKernel, CnnKernelPart, MTL::Region, clipRect, setClipRect, clip, (0, 0, 0, 0))
MPS_NUMBER(CNNKernel, CnnKernelPart, destinationFeatureChannelOffset, setDestinationFeatureChannelOffset,
           destination_channel_offset)
MPS_NUMBER(CNNKernel, CnnKernelPart, sourceFeatureChannelOffset, setSourceFeatureChannelOffset, source_channel_offset)
MPS_NUMBER(CNNKernel, CnnKernelPart, sourceFeatureChannelMaxCount, setSourceFeatureChannelMaxCount,
           source_channel_max_count)
MPS_PROPERTY(CNNKernel, CnnKernelPart, ImageEdgeMode, edgeMode, setEdgeMode, window.edge_mode, (ImageEdgeModeZero))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, kernelWidth, window.kernel_width, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, kernelHeight, window.kernel_height, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, strideInPixelsX, window.stride_x, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, strideInPixelsY, window.stride_y, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, dilationRateX, window.dilation_x, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, NS::UInteger, dilationRateY, window.dilation_y, (0))
MPS_READONLY(CNNKernel, CnnKernelPart, bool, isBackwards, is_backwards, (false))

bool CNNKernel::isStateModified() const {
  return false;
}
NNPadding* CNNKernel::padding() const {
  const auto* self = body(this);
  return self ? padding_of(*self) : nullptr;
}
void CNNKernel::setPadding(NNPadding* padding) {
  if (auto* self = body(this)) self->padding = NS::RetainPtr(padding);
}
ImageAllocator* CNNKernel::destinationImageAllocator() const {
  const auto* self = body(this);
  return self ? allocator_of(*self) : nullptr;
}
void CNNKernel::setDestinationImageAllocator(ImageAllocator* allocator) {
  if (auto* self = body(this)) self->allocator = NS::RetainPtr(allocator);
}

void CNNKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const Image* destinationImage) {
  encode_batch(this, commandBuffer, {mps::body(sourceImage)}, {mps::body(destinationImage)}, {});
}

void CNNKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const State* destinationState,
                       const Image* destinationImage) {
  std::vector<State*> states;
  if (destinationState) states.push_back(const_cast<State*>(destinationState));
  encode_batch(this, commandBuffer, {mps::body(sourceImage)}, {mps::body(destinationImage)}, states);
}

Image* CNNKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage) {
  return encode(commandBuffer, sourceImage, nullptr, false);
}

Image* CNNKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, State** destinationState,
                         bool destinationStateIsTemporary) {
  const std::vector<ImageObject*> sources = {mps::body(sourceImage)};
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, sources);
  if (destinations.empty()) return nullptr;
  std::vector<State*> states;
  if (destinationState) {
    states = make_states(this, destinationStateIsTemporary ? commandBuffer : nullptr, sources, destinations);
    *destinationState = states.empty() ? nullptr : states.front();
  }
  encode_batch(this, commandBuffer, sources, destinations, states);
  return destinations.front();
}

void CNNKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                            const ImageBatch* destinationImages) {
  encode_batch(this, commandBuffer, images_of(sourceImages), images_of(destinationImages), {});
}

void CNNKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                            const StateBatch* destinationStates, const ImageBatch* destinationImages) {
  encode_batch(this, commandBuffer, images_of(sourceImages), images_of(destinationImages),
               states_of(destinationStates));
}

ImageBatch* CNNKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages) {
  return encodeBatch(commandBuffer, sourceImages, nullptr, false);
}

ImageBatch* CNNKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                                   StateBatch** destinationStates, bool destinationStateIsTemporary) {
  const std::vector<ImageObject*> sources = images_of(sourceImages);
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, sources);
  if (destinations.empty()) return nullptr;
  std::vector<State*> states;
  if (destinationStates) {
    states = make_states(this, destinationStateIsTemporary ? commandBuffer : nullptr, sources, destinations);
    *destinationStates = batch_of(states);
  }
  encode_batch(this, commandBuffer, sources, destinations, states);
  return batch_of(destinations);
}

State* CNNKernel::resultState(const Image* sourceImage, const NS::Array*, const Image* destinationImage) {
  const auto states = make_states(this, nullptr, {mps::body(sourceImage)}, {mps::body(destinationImage)});
  return states.empty() ? nullptr : states.front();
}

StateBatch* CNNKernel::resultStateBatch(const ImageBatch* sourceImage, const NS::Array*,
                                        const ImageBatch* destinationImage) {
  return batch_of(make_states(this, nullptr, images_of(sourceImage), images_of(destinationImage)));
}

State* CNNKernel::temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const NS::Array*,
                                       const Image* destinationImage) {
  const auto states = make_states(this, commandBuffer, {mps::body(sourceImage)}, {mps::body(destinationImage)});
  return states.empty() ? nullptr : states.front();
}

StateBatch* CNNKernel::temporaryResultStateBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImage,
                                                 const NS::Array*, const ImageBatch* destinationImage) {
  return batch_of(make_states(this, commandBuffer, images_of(sourceImage), images_of(destinationImage)));
}

bool CNNKernel::isResultStateReusedAcrossBatch() const {
  const auto* self = body(this);
  return self && self->state_is_shared();
}

bool CNNKernel::appendBatchBarrier() const {
  return false;
}

ImageDescriptor* CNNKernel::destinationImageDescriptor(const NS::Array* sourceImages, const NS::Array* sourceStates) {
  auto* self = body(this);
  const std::vector<ImageObject*> sources = images_of(sourceImages);
  if (!self || sources.empty() || !sources.front()) return nullptr;
  const ImageObject& first = *sources.front();
  const auto channels = source_channels(*self, first.shape);
  if (!channels) {
    foundation::report_misuse(self->call(), channels.error());
    return nullptr;
  }
  const NNPaddingMethod method = padding_of(*self)->paddingMethod();
  const WindowGeometry& window = self->window;
  const PaddedAxis x{first.shape.width, window.window_width(), window.stride_x, self->is_backwards};
  const PaddedAxis y{first.shape.height, window.window_height(), window.stride_y, self->is_backwards};
  ImageShape shape = first.shape;
  shape.width = padded_result_size(x, method);
  shape.height = padded_result_size(y, method);
  shape.channels = self->result_channels(*channels) + self->destination_channel_offset;
  self->set_origin(padded_offset(x, method, Axis::x), padded_offset(y, method, Axis::y));
  shape = self->result_shape(first.shape, shape);
  ImageDescriptor* descriptor =
      ImageDescriptor::imageDescriptor(shape.format, shape.width, shape.height, shape.channels, shape.images,
                                       MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
  return method & NNPaddingMethodCustom
             ? padding_of(*self)->destinationImageDescriptor(sourceImages, sourceStates, this, descriptor)
             : descriptor;
}

}  // namespace MPS
