#include "mps/core/cnn_layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace metalloid::mps {

Status check_batch(std::span<ImageObject* const> images, const char* name) {
  if (images.empty()) return Error{fmt::format("{}s is empty", name)};
  if (!images.front()) return Error{fmt::format("{} is null", name)};
  if (images.size() == 1) return success();
  const ImageShape& first = images.front()->shape;
  for (const ImageObject* image : images) {
    if (!image) return Error{fmt::format("{} is null", name)};
    const ImageShape& shape = image->shape;
    if (shape.images != 1) return Error{fmt::format("{}s must have one image each, not {}", name, shape.images)};
    if (shape.width != first.width || shape.height != first.height || shape.channels != first.channels)
      return Error{fmt::format("{}s must be equally large: there are {} x {} x {} and {} x {} x {}", name, first.width,
                               first.height, first.channels, shape.width, shape.height, shape.channels)};
  }
  return success();
}

MTL::Region clipped(MTL::Region clip, const ImageShape& image) {
  const auto part = [](NS::UInteger first, NS::UInteger count, size_t limit) {
    return first >= limit ? 0 : std::min<NS::UInteger>(count, limit - first);
  };
  return MTL::Region(clip.origin.x, clip.origin.y, clip.origin.z, part(clip.origin.x, clip.size.width, image.width),
                     part(clip.origin.y, clip.size.height, image.height),
                     part(clip.origin.z, clip.size.depth, image.images));
}

Result<ImageArea> destination_area(const LayerPart& layer, std::span<ImageObject* const> destinations,
                                   size_t channels) {
  const ImageShape& shape = destinations.front()->shape;
  if (layer.destination_channel_offset > shape.channels || channels > shape.channels - layer.destination_channel_offset)
    return Error{
        fmt::format("destinationImage has {} channels; {} from destinationFeatureChannelOffset ({}) on are "
                    "written",
                    shape.channels, channels, layer.destination_channel_offset)};
  const MTL::Region clip = clipped(layer.clip, shape);
  const bool is_batch = destinations.size() > 1;
  return ImageArea{.x = clip.origin.x,
                   .y = clip.origin.y,
                   .width = clip.size.width,
                   .height = clip.size.height,
                   .first_channel = layer.destination_channel_offset,
                   .channels = channels,
                   .first_image = is_batch ? 0 : clip.origin.z,
                   .images = is_batch ? destinations.size() : clip.size.depth};
}

namespace {

template <class Object>
void keep_different(std::vector<Object*>& objects) {
  std::ranges::sort(objects);
  const auto rest = std::ranges::unique(objects);
  objects.erase(rest.begin(), rest.end());
}

}  // namespace

// Only temporary ones count.
void mark_as_read(std::span<ImageObject* const> images) {
  std::vector<ImageObject*> temporary;
  std::ranges::copy_if(images, std::back_inserter(temporary),
                       [](const ImageObject* image) { return bool(image->block); });
  keep_different(temporary);
  for (ImageObject* image : temporary) image->was_read();
}

void mark_as_read(std::span<MPS::State* const> states) {
  std::vector<StatePart*> temporary;
  for (MPS::State* state : states)
    if (auto* part = shared_part_of<StatePart>(state); part && part->home) temporary.push_back(part);
  keep_different(temporary);
  for (StatePart* state : temporary) state->was_read();
}

MPS::NNPadding* padding_of(const LayerPart& layer) {
  static MPS::NNPadding* same_size = MPS::NNDefaultPadding::padding(MPS::NNPaddingMethodSizeSame)->retain();
  return layer.padding ? layer.padding.get() : same_size;
}

MPS::ImageAllocator* allocator_of(const LayerPart& layer) {
  return layer.allocator ? layer.allocator.get() : MPS::TemporaryImage::defaultAllocator();
}

std::vector<ImageObject*> allocate_images(const LayerPart& layer, MPS::Kernel* kernel,
                                          MTL::CommandBuffer* command_buffer, MPS::ImageDescriptor* descriptor,
                                          size_t count) {
  if (count > 1) return images_of(allocator_of(layer)->imageBatch(command_buffer, descriptor, kernel, count));
  ImageObject* image = body(allocator_of(layer)->image(command_buffer, descriptor, kernel));
  return image ? std::vector<ImageObject*>{image} : std::vector<ImageObject*>();
}

MPS::StateBatch* batch_of(const std::vector<MPS::State*>& states) {
  const std::vector<const NS::Object*> objects(states.begin(), states.end());
  return NS::Array::array(objects.data(), objects.size());
}

}  // namespace metalloid::mps
