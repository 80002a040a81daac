// CNNGradientKernel: where and how the forward pass worked is in its state, so nothing need be set here.
#include <fmt/format.h>

#include <algorithm>

#include "mps/core/cnn_layer.hpp"
#include "mps/core/properties.hpp"

namespace metalloid::mps {
namespace {

CnnGradientPart* body(const MPS::CNNGradientKernel* kernel) {
  return shared_part_of<CnnGradientPart>(const_cast<MPS::CNNGradientKernel*>(kernel));
}

// The gradient of what the forward pass wrote: all of an image that is just that large, its part of a larger one.
Result<ImageArea> gradient_area(const CnnGradientPart& self, std::span<ImageObject* const> gradients,
                                const GradientStatePart& forward) {
  const ImageShape& shape = gradients.front()->shape;
  ImageArea area = whole(gradients);
  area.width = forward.clip.size.width;
  area.height = forward.clip.size.height;
  if (shape.width != area.width || shape.height != area.height) {
    area.x = forward.clip.origin.x;
    area.y = forward.clip.origin.y;
    if (area.x + area.width > shape.width || area.y + area.height > shape.height)
      return Error{fmt::format("sourceGradient has {} x {} pixels, and the forward pass wrote {} x {}", shape.width,
                               shape.height, area.width, area.height)};
  }
  area.first_channel = self.primary_channel_offset;
  if (area.first_channel == 0 && shape.channels == forward.destination.channels)
    area.first_channel = forward.destination_channel_offset;
  area.channels = std::min<size_t>(self.primary_channel_max_count, shape.channels - area.first_channel);
  return area;
}

Status encode(Encoding& encoding, const CnnGradientPart& self, std::span<ImageObject* const> gradients,
              std::span<ImageObject* const> sources, std::vector<MPS::State*> states,
              std::span<ImageObject* const> destinations) {
  if (auto status = check_batch(gradients, "sourceGradient"); !status) return status;
  if (auto status = check_batch(sources, "sourceImage"); !status) return status;
  if (auto status = check_batch(destinations, "destinationGradient"); !status) return status;
  if (gradients.size() != sources.size() || gradients.size() != destinations.size() ||
      gradients.size() != states.size())
    return Error{
        fmt::format("there are {} sourceGradients, {} sourceImages, {} gradientStates and {} "
                    "destinationGradients",
                    gradients.size(), sources.size(), states.size(), destinations.size())};
  const auto* forward = shared_part_of<GradientStatePart>(states.front());
  if (!forward) return Error{"gradientState is null or no state of a forward pass"};
  const auto area = gradient_area(self, gradients, *forward);
  if (!area) return Error{area.error()};
  ImageArea read = whole(sources);
  read.first_channel = self.secondary_channel_offset ? self.secondary_channel_offset : forward->source_channel_offset;
  if (read.first_channel >= read.channels) return Error{"sourceImage has fewer channels than the forward pass read"};
  read.channels = std::min<size_t>(self.secondary_channel_max_count, read.channels - read.first_channel);
  ImageShape result = sources.front()->shape;
  result.channels = self.result_channels(area->channels, read.channels);
  const auto written = destination_area(self, destinations, self.gradient_shape(result, forward).channels);
  if (!written) return Error{written.error()};

  ImageWork work(encoding);
  const MPS::DataType type = work_type_of({gradients, sources, destinations});
  const auto gradient = work.source(gradients, *area, type);
  if (!gradient) return Error{"sourceGradient: " + gradient.error()};
  const auto source = work.source(sources, read, type);
  if (!source) return Error{"sourceImage: " + source.error()};
  const auto destination = work.destination(destinations, *written, type);
  if (!destination) return Error{"destinationGradient: " + destination.error()};
  CnnGradientTask task{
      work.apart(*gradient, *destination), work.apart(*source, *destination), *destination, states, *forward, work};
  if (auto status = self.encode_gradient(encoding, task); !status) return status;
  work.finish();
  mark_as_read(gradients);
  mark_as_read(sources);
  mark_as_read(states);
  return success();
}

void encode_batch(MPS::CNNGradientKernel* kernel, MTL::CommandBuffer* command_buffer,
                  const std::vector<ImageObject*>& gradients, const std::vector<ImageObject*>& sources,
                  const std::vector<MPS::State*>& states, const std::vector<ImageObject*>& destinations) {
  CnnGradientPart* self = body(kernel);
  if (!self) return;
  Encoding encoding(command_buffer, *self, self->call());
  if (encoding) encoding.check(encode(encoding, *self, gradients, sources, states, destinations));
}

// As large as the source image; the kernel's secondary properties become those of the forward pass.
std::vector<ImageObject*> make_destinations(MPS::CNNGradientKernel* kernel, MTL::CommandBuffer* command_buffer,
                                            const std::vector<ImageObject*>& gradients,
                                            const std::vector<ImageObject*>& sources,
                                            const std::vector<MPS::State*>& states) {
  CnnGradientPart* self = body(kernel);
  if (!self || !command_buffer || gradients.empty() || sources.empty() || !gradients.front() || !sources.front())
    return {};
  ImageShape shape = sources.front()->shape;
  const auto* forward = states.empty() ? nullptr : shared_part_of<GradientStatePart>(states.front());
  if (forward) self->secondary = forward->geometry;
  shape.format = gradients.front()->shape.format;
  const size_t source_channels =
      std::min<size_t>(self->secondary_channel_max_count,
                       shape.channels - std::min(shape.channels, forward ? forward->source_channel_offset : 0));
  shape.channels = self->result_channels(gradients.front()->shape.channels, source_channels);
  shape = self->gradient_shape(shape, forward);
  shape.channels += self->destination_channel_offset;
  return allocate_images(
      *self, kernel, command_buffer,
      MPS::ImageDescriptor::imageDescriptor(shape.format, shape.width, shape.height, shape.channels, shape.images,
                                            MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite),
      sources.size());
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

MPS_PROPERTY(CNNGradientKernel, CnnGradientPart, NS::Integer, kernelOffsetX, setKernelOffsetX, kernel_offset_x, (0))
MPS_PROPERTY(CNNGradientKernel, CnnGradientPart, NS::Integer, kernelOffsetY, setKernelOffsetY, kernel_offset_y, (0))

Image* CNNGradientKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient,
                                 const Image* sourceImage, const State* gradientState) {
  const std::vector<ImageObject*> gradients = {mps::body(sourceGradient)}, sources = {mps::body(sourceImage)};
  const std::vector<State*> states = {const_cast<State*>(gradientState)};
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, gradients, sources, states);
  if (destinations.empty()) return nullptr;
  encode_batch(this, commandBuffer, gradients, sources, states, destinations);
  return destinations.front();
}

void CNNGradientKernel::encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient, const Image* sourceImage,
                               const State* gradientState, const Image* destinationGradient) {
  encode_batch(this, commandBuffer, {mps::body(sourceGradient)}, {mps::body(sourceImage)},
               {const_cast<State*>(gradientState)}, {mps::body(destinationGradient)});
}

ImageBatch* CNNGradientKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients,
                                           const ImageBatch* sourceImages, const StateBatch* gradientStates) {
  const std::vector<ImageObject*> gradients = images_of(sourceGradients), sources = images_of(sourceImages);
  const std::vector<State*> states = states_of(gradientStates);
  const std::vector<ImageObject*> destinations = make_destinations(this, commandBuffer, gradients, sources, states);
  if (destinations.empty()) return nullptr;
  encode_batch(this, commandBuffer, gradients, sources, states, destinations);
  return batch_of(destinations);
}

void CNNGradientKernel::encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients,
                                    const ImageBatch* sourceImages, const StateBatch* gradientStates,
                                    const ImageBatch* destinationGradients) {
  encode_batch(this, commandBuffer, images_of(sourceGradients), images_of(sourceImages), states_of(gradientStates),
               images_of(destinationGradients));
}

}  // namespace MPS
