#include "mps/core/image_texture.hpp"

#include <fmt/format.h>

#include "device/pixel_format.hpp"
#include "foundation/misuse.hpp"
#include "metal/buffer.hpp"
#include "metal/texture.hpp"
#include "mps/core/image_memory.hpp"
#include "mps/core/image_tensor.hpp"

namespace metalloid::mps {
namespace {

struct ChannelsAndFormat {
  size_t channels = 0;
  MPS::ImageFeatureChannelFormat format = MPS::ImageFeatureChannelFormatNone;
};

// Of the pixel formats that images have too; no channels for others.
ChannelsAndFormat channels_and_format(MTL::PixelFormat pixel_format) {
  for (const auto format : {MPS::ImageFeatureChannelFormatUnorm8, MPS::ImageFeatureChannelFormatUnorm16,
                            MPS::ImageFeatureChannelFormatFloat16, MPS::ImageFeatureChannelFormatFloat32})
    for (const size_t channels : {1, 2, 4})
      if (pixel_format_of({.channels = channels, .format = format}) == pixel_format) return {channels, format};
  return {};
}

bool has_no_swizzle(const device::TextureDescription& texture) {
  for (unsigned i = 0; i < 4; ++i)
    if (texture.swizzle[i] != MTL::TextureSwizzleRed + i) return false;
  return true;
}

// As kernels/image_copy.metal has it.
struct TextureCopy {
  KernelImageTensor image;
  uint32_t slices;
};

void encode_texture_copy(Encoding& encoding, const ImageObject& image, const char* function) {
  const auto found = pipeline(encoding.device(), {function});
  if (!found) return encoding.fail(found.error());
  const auto array = NS::TransferPtr(image.texture->newTextureView(image.texture->pixelFormat(),
                                                                   MTL::TextureType2DArray, NS::Range::Make(0, 1),
                                                                   NS::Range::Make(0, image.texture->arrayLength())));
  encoding.keep(array.get());
  const ImageShape& shape = image.shape;
  const TextureCopy copy{
      {image.image_stride, uint32_t(image.row_stride()), uint32_t(image.pixel_stride), uint32_t(shape.width),
       uint32_t(shape.height), uint32_t(shape.channels), uint32_t(shape.images)},
      uint32_t((shape.channels + 3) / 4)};
  MTL::ComputeCommandEncoder* encoder = encoding.command_buffer()->computeCommandEncoder();
  encoder->setComputePipelineState(*found);
  encoder->setTexture(array.get(), 0);
  encoder->setBuffer(image.buffer.get(), image.offset, 0);
  encoder->setBytes(&copy, sizeof copy, 1);
  encoder->dispatchThreads(MTL::Size(shape.width, shape.height, copy.slices * shape.images), MTL::Size(32, 1, 1));
  encoder->endEncoding();
}

}  // namespace

NS::SharedPtr<MTL::Texture> new_texture_of(const ImageObject& image) {
  const ImageShape& shape = image.shape;
  const size_t slices = (shape.channels + 3) / 4;
  if (slices > 1 && shape.images > 1) {
    foundation::report_misuse("-[MPSImage texture]",
                              fmt::format("{} images of {} channels lie one after the other, and the slices of a "
                                          "texture at a constant distance: use batchRepresentation",
                                          shape.images, shape.channels));
    return {};
  }
  const size_t number = bytes_of(shape.format);
  device::TextureDescription texture = {};
  texture.pixel_format = static_cast<unsigned>(pixel_format_of(shape));
  texture.type = static_cast<unsigned>(image.textureType());
  texture.width = unsigned(shape.width);
  texture.height = unsigned(shape.height);
  texture.depth = texture.levels = texture.samples = 1;
  texture.slices = unsigned(slices * shape.images);
  texture.bytes_per_texel = unsigned(image.pixel_stride * number);
  for (unsigned i = 0; i < 4; ++i) texture.swizzle[i] = static_cast<unsigned char>(MTL::TextureSwizzleRed + i);
  texture.level[0] = {0, image.row_stride() * number, (slices > 1 ? 4 : image.image_stride) * number};
  return NS::TransferPtr(metal::make_strided_texture(image.buffer.get(), image.offset, texture, image.usage));
}

Status show_texture(ImageObject& image, MTL::Texture* texture, size_t channels) {
  const device::TextureDescription& description = metal::body(texture)->description();
  if (description.type != MTL::TextureType2D && description.type != MTL::TextureType2DArray)
    return Error{"texture must be of type MTLTextureType2D or MTLTextureType2DArray"};
  const size_t slices = (channels + 3) / 4;
  if (channels == 0 || description.slices % slices)
    return Error{fmt::format("featureChannels ({}) take {} slices, and the texture has {}", channels, slices,
                             description.slices)};
  image.device = NS::RetainPtr(texture->device());
  image.texture = NS::RetainPtr(texture);
  image.usage = texture->usage();
  image.shape = {description.width, description.height, channels, description.slices / slices,
                 MPS::ImageFeatureChannelFormatFloat32};
  const ChannelsAndFormat stored = channels_and_format(texture->pixelFormat());
  const device::TextureLevel& level = description.level[0];
  const size_t number = bytes_of(stored.format);
  if (slices == 1 && stored.channels >= channels && has_no_swizzle(description) &&
      level.row_bytes == uint64_t{description.width} * description.bytes_per_texel) {
    image.shape.format = stored.format;
    image.pixel_stride = description.bytes_per_texel / number;
    image.image_stride = level.image_bytes / number;
    const metal::TextureObject* object = metal::body(texture);
    metal::Placement placement = object->placement;
    placement.offset = description.base - placement.memory->address + level.offset;
    placement.borrowed = true;
    const size_t bytes = level.image_bytes * description.slices;
    image.buffer = NS::TransferPtr<MTL::Buffer>(
        new metal::BufferObject(object->device, object->modes, std::move(placement), bytes));
    return success();
  }
  image.is_copy_of_texture = true;
  image.pixel_stride = stored_channels(channels);
  image.image_stride = image.shape.height * image.row_stride();
  ImageMemory memory = take_image_memory(image.device.get(), MTL::ResourceStorageModePrivate, bytes_of(image.shape));
  if (!memory.buffer) return Error{fmt::format("there is no memory for {} bytes", bytes_of(image.shape))};
  image.buffer = std::move(memory.buffer);
  image.offset = memory.offset;
  image.memory = std::move(memory.place);
  return success();
}

void copy_from_texture(Encoding& encoding, const ImageObject& image) {
  encode_texture_copy(encoding, image, "image_from_texture");
}

void copy_to_texture(Encoding& encoding, const ImageObject& image) {
  encode_texture_copy(encoding, image, "image_to_texture");
}

}  // namespace metalloid::mps
