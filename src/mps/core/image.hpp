// The object behind MPS::Image: numbers in a buffer, pixel after pixel, the channels of a pixel side by side. As with
// matrices, all images are of the class that has the longer interface, and one that is not temporary only never shows
// it.
#pragma once

#include <MetalPerformanceShaders/MPSImage.hpp>
#include <memory>
#include <metalloid/result.hpp>
#include <vector>

#include "mps/core/operand.hpp"
#include "mps/core/temporary_memory.hpp"

namespace metalloid::mps {

struct ImageShape {
  size_t width = 1, height = 1, channels = 1, images = 1;
  MPS::ImageFeatureChannelFormat format = MPS::ImageFeatureChannelFormatFloat32;

  bool operator==(const ImageShape&) const = default;
};

// Of one number; 0 for what is no format.
size_t bytes_of(MPS::ImageFeatureChannelFormat format);

// The channels that a pixel has room for: 1, 2, or a multiple of 4, as texture formats have it.
constexpr size_t stored_channels(size_t channels) {
  return channels <= 2 ? channels : (channels + 3) / 4 * 4;
}

size_t bytes_of(const ImageShape& shape);
Status check(const ImageShape& shape);
MTL::PixelFormat pixel_format_of(const ImageShape& shape);

// The memory of temporary images, of one or of a batch; it goes back when all of them have been read for the last time.
struct TemporaryBlock {
  TemporaryHomePointer home;
  MTL::Buffer* buffer = nullptr;
  size_t unread_images = 0;

  void image_was_read();
};

class ImageObject final : public MPS::TemporaryImage {
 public:
  NS::SharedPtr<MTL::Device> device;
  ImageShape shape;
  size_t pixel_stride = 0, image_stride = 0;  // numbers; rows follow each other without gaps
  NS::SharedPtr<MTL::Buffer> buffer;
  size_t offset = 0;             // bytes
  std::shared_ptr<void> memory;  // keeps the place in the buffer, where others have a share in it
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite;
  NS::SharedPtr<MTL::Texture> texture;  // the program's own, or the view that it asked for
  bool is_copy_of_texture = false;      // the texture lies differently: the numbers are copied in and out
  bool padding_is_zero = false;         // channels that only fill a pixel up
  bool is_part_of_channels = false;     // of the parent's
  NS::SharedPtr<MPS::Image> parent;
  NS::SharedPtr<NS::String> label;
  std::shared_ptr<TemporaryBlock> block;  // null: not temporary
  NS::UInteger read_count = 1;

  Operand place_of_image(size_t image) const {
    return {buffer.get(), offset + image * image_stride * bytes_of(shape.format)};
  }
  size_t row_stride() const { return shape.width * pixel_stride; }
  void set_read_count(NS::UInteger count);
  void was_read() {
    if (block && read_count > 0) set_read_count(read_count - 1);
  }
  const char* className() const override { return block ? "MPSTemporaryImage" : "MPSImage"; }
};

// Null stays null.
inline ImageObject* body(const MPS::Image* image) {
  return const_cast<ImageObject*>(static_cast<const ImageObject*>(image));
}

class ImageDescriptorObject final : public MPS::ImageDescriptor {
 public:
  ImageShape shape;
  MTL::CPUCacheMode cpu_cache_mode = MTL::CPUCacheModeDefaultCache;
  MTL::StorageMode storage_mode = MTL::StorageModeShared;
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite;

  const char* className() const override { return "MPSImageDescriptor"; }
  NS::Object* contentCopy() const override;
};
inline ImageDescriptorObject* body(const MPS::ImageDescriptor* descriptor) {
  return const_cast<ImageDescriptorObject*>(static_cast<const ImageDescriptorObject*>(descriptor));
}

std::vector<ImageObject*> images_of(const MPS::ImageBatch* batch);
MPS::ImageBatch* batch_of(const std::vector<ImageObject*>& images);  // autoreleased

// Temporary images of the same kind side by side, autoreleased; empty, and reported, if there is no memory.
std::vector<ImageObject*> temporary_images(MTL::CommandBuffer* command_buffer, const ImageShape& shape, size_t count);

// The same that last.
std::vector<ImageObject*> lasting_images(MTL::Device* device, const ImageDescriptorObject& descriptor, size_t count);

}  // namespace metalloid::mps
