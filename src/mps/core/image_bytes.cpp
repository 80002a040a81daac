// Reading and writing the numbers of images from the host, in the image's own type.
#include <fmt/format.h>

#include <cstring>

#include "foundation/misuse.hpp"
#include "metal/texture.hpp"
#include "mps/core/image.hpp"

namespace metalloid::mps {
namespace {

// Where the host's numbers are, in bytes from one to the next.
struct HostStrides {
  size_t pixel = 0, row = 0, channel = 0;
};

HostStrides strides_of(MPS::DataLayout layout, size_t number, size_t channels, size_t bytes_per_row,
                       size_t bytes_per_image) {
  if (layout == MPS::DataLayoutHeightxWidthxFeatureChannels) return {channels * number, bytes_per_row, number};
  return {number, bytes_per_row, bytes_per_image};
}

Status check(const ImageObject& image, MPS::DataLayout layout, MTL::Region region,
             const MPS::ImageReadWriteParams& channels, size_t index, const void* bytes) {
  const ImageShape& shape = image.shape;
  const auto beyond = [](size_t first, size_t count, size_t limit) { return count > limit || first > limit - count; };
  if (!bytes) return Error{"dataBytes is null"};
  if (layout != MPS::DataLayoutHeightxWidthxFeatureChannels && layout != MPS::DataLayoutFeatureChannelsxHeightxWidth)
    return Error{fmt::format("there is no dataLayout {}", size_t(layout))};
  if (index >= shape.images) return Error{fmt::format("imageIndex ({}) is not among {} images", index, shape.images)};
  if (beyond(region.origin.x, region.size.width, shape.width) ||
      beyond(region.origin.y, region.size.height, shape.height))
    return Error{fmt::format("region is not in an image of {} x {} pixels", shape.width, shape.height)};
  if (beyond(channels.featureChannelOffset, channels.numberOfFeatureChannelsToReadWrite, shape.channels))
    return Error{fmt::format("featureChannelInfo is not in the image's {} channels", shape.channels)};
  return success();
}

// The host's view of an image; for one that is a copy of a texture, of the texture.
struct HostImage {
  char* bytes = nullptr;  // of the first pixel
  size_t number = 0;      // bytes
  size_t pixel = 0, row = 0, slice = 0;

  char* at(size_t x, size_t y, size_t channel) const {
    const size_t in_slice = slice ? channel % 4 : channel;
    return bytes + y * row + x * pixel + (slice ? channel / 4 * slice : 0) + in_slice * number;
  }
};

Result<HostImage> host_image(const ImageObject& image, size_t index) {
  if (image.is_copy_of_texture) {
    const size_t slices = (image.shape.channels + 3) / 4;
    const metal::TextureObject* texture = metal::body(image.texture.get());
    const auto place = texture->bytes_of(MTL::Region(0, 0, image.shape.width, image.shape.height), 0, index * slices);
    if (!place) return Error{place.error()};
    if (!place->host) return Error{"the texture is in private storage, which the host does not see"};
    const size_t texel = texture->description().bytes_per_texel;
    if (texel % 4) return Error{"the texture's texels are not made of four numbers"};
    return HostImage{reinterpret_cast<char*>(place->host), texel / 4, texel, place->row_stride, place->image_stride};
  }
  auto* bytes = static_cast<char*>(image.buffer->contents());
  if (!bytes) return Error{"the image is in private storage, which the host does not see"};
  const size_t number = bytes_of(image.shape.format);
  return HostImage{bytes + image.place_of_image(index).offset, number, image.pixel_stride * number,
                   image.row_stride() * number, 0};
}

template <class Bytes, class Transfer>
void for_each_run(const ImageObject* image, const char* call, Bytes* bytes, MPS::DataLayout layout,
                  size_t bytes_per_row, size_t bytes_per_image, MTL::Region region, MPS::ImageReadWriteParams channels,
                  size_t index, const Transfer& transfer) {
  if (!image) return;
  const Status status = image->block ? Status(Error{"the host does not see temporary images"})
                                     : check(*image, layout, region, channels, index, bytes);
  const Result<HostImage> host = status ? host_image(*image, index) : Result<HostImage>(Error{status.error()});
  if (!host) return foundation::report_misuse(call, host.error());
  const size_t count = channels.numberOfFeatureChannelsToReadWrite, number = host->number;
  const HostStrides strides = strides_of(layout, number, count, bytes_per_row, bytes_per_image);
  const bool pixels_are_runs = strides.channel == number && host->slice == 0;
  const bool rows_are_runs = pixels_are_runs && strides.pixel == host->pixel && count * number == host->pixel;
  const size_t channels_of_run = pixels_are_runs ? count : 1, pixels_of_run = rows_are_runs ? region.size.width : 1;
  for (size_t y = 0; y < region.size.height; ++y)
    for (size_t x = 0; x < region.size.width; x += pixels_of_run)
      for (size_t c = 0; c < count; c += channels_of_run)
        transfer(bytes + y * strides.row + x * strides.pixel + c * strides.channel,
                 host->at(region.origin.x + x, region.origin.y + y, channels.featureChannelOffset + c),
                 pixels_of_run * channels_of_run * number);
}

// Bytes of a row and of a plane of one channel where the numbers have no gaps.
struct Packed {
  size_t row, plane;
};
Packed packed(MPS::DataLayout layout, size_t width, size_t height, size_t channels, size_t number) {
  const bool planes = layout == MPS::DataLayoutFeatureChannelsxHeightxWidth;
  const size_t row = width * number * (planes ? 1 : channels);
  return {row, row * height};
}

size_t number_bytes(const ImageObject& image) {
  return image.is_copy_of_texture ? metal::body(image.texture.get())->description().bytes_per_texel / 4
                                  : bytes_of(image.shape.format);
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

void Image::readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage,
                      MTL::Region region, ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex) const {
  for_each_run(body(this), "-[MPSImage readBytes:dataLayout:bytesPerRow:region:featureChannelInfo:imageIndex:]",
               static_cast<char*>(dataBytes), dataLayout, bytesPerRow, bytesPerImage, region, featureChannelInfo,
               imageIndex, [](char* host, const char* image, size_t bytes) { std::memcpy(host, image, bytes); });
}

void Image::readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, MTL::Region region,
                      ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex) const {
  readBytes(dataBytes, dataLayout, bytesPerRow, bytesPerRow * region.size.height, region, featureChannelInfo,
            imageIndex);
}

void Image::readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger imageIndex) const {
  const ImageObject* self = body(this);
  if (!self) return;
  const auto& [width, height, channels, images, format] = self->shape;
  const Packed bytes = packed(dataLayout, width, height, channels, number_bytes(*self));
  readBytes(dataBytes, dataLayout, bytes.row, bytes.plane, MTL::Region(0, 0, width, height), {0, channels}, imageIndex);
}

void Image::writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow,
                       NS::UInteger bytesPerImage, MTL::Region region, ImageReadWriteParams featureChannelInfo,
                       NS::UInteger imageIndex) {
  for_each_run(body(this), "-[MPSImage writeBytes:dataLayout:bytesPerRow:region:featureChannelInfo:imageIndex:]",
               static_cast<const char*>(dataBytes), dataLayout, bytesPerRow, bytesPerImage, region, featureChannelInfo,
               imageIndex, [](const char* host, char* image, size_t bytes) { std::memcpy(image, host, bytes); });
}

void Image::writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, MTL::Region region,
                       ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex) {
  writeBytes(dataBytes, dataLayout, bytesPerRow, bytesPerRow * region.size.height, region, featureChannelInfo,
             imageIndex);
}

void Image::writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger imageIndex) {
  const ImageObject* self = body(this);
  if (!self) return;
  const auto& [width, height, channels, images, format] = self->shape;
  const Packed bytes = packed(dataLayout, width, height, channels, number_bytes(*self));
  writeBytes(dataBytes, dataLayout, bytes.row, bytes.plane, MTL::Region(0, 0, width, height), {0, channels},
             imageIndex);
}

}  // namespace MPS
