#include "mps/core/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "foundation/array.hpp"
#include "foundation/misuse.hpp"
#include "metal/resource.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/image_memory.hpp"
#include "mps/core/image_texture.hpp"

namespace metalloid::mps {

size_t bytes_of(MPS::ImageFeatureChannelFormat format) {
  switch (format) {
    case MPS::ImageFeatureChannelFormatUnorm8:
      return 1;
    case MPS::ImageFeatureChannelFormatUnorm16:
    case MPS::ImageFeatureChannelFormatFloat16:
      return 2;
    case MPS::ImageFeatureChannelFormatFloat32:
      return 4;
    default:
      return 0;
  }
}

size_t bytes_of(const ImageShape& shape) {
  return times(times(times(shape.images, shape.height), times(shape.width, stored_channels(shape.channels))),
               bytes_of(shape.format));
}

Status check(const ImageShape& shape) {
  if (bytes_of(shape.format) == 0)
    return Error{fmt::format("channelFormat ({}) must be Unorm8, Unorm16, Float16 or Float32", size_t(shape.format))};
  if (shape.width == 0 || shape.height == 0 || shape.channels == 0 || shape.images == 0)
    return Error{fmt::format("width ({}), height ({}), featureChannels ({}) and numberOfImages ({}) must not be 0",
                             shape.width, shape.height, shape.channels, shape.images)};
  return success();
}

MTL::PixelFormat pixel_format_of(const ImageShape& shape) {
  static constexpr MTL::PixelFormat formats[][3] = {
      {MTL::PixelFormatR8Unorm, MTL::PixelFormatRG8Unorm, MTL::PixelFormatRGBA8Unorm},
      {MTL::PixelFormatR16Unorm, MTL::PixelFormatRG16Unorm, MTL::PixelFormatRGBA16Unorm},
      {MTL::PixelFormatR16Float, MTL::PixelFormatRG16Float, MTL::PixelFormatRGBA16Float},
      {MTL::PixelFormatR32Float, MTL::PixelFormatRG32Float, MTL::PixelFormatRGBA32Float},
  };
  if (bytes_of(shape.format) == 0) return MTL::PixelFormatInvalid;
  return formats[shape.format - MPS::ImageFeatureChannelFormatUnorm8][std::clamp<size_t>(shape.channels, 1, 3) - 1];
}

void TemporaryBlock::image_was_read() {
  if (--unread_images == 0) give_back(*home, buffer);
}

void ImageObject::set_read_count(NS::UInteger count) {
  if (!block || read_count == 0) return;
  read_count = count;
  if (count > 0) return;
  if (parent)
    mps::body(parent.get())->was_read();
  else
    block->image_was_read();
}

NS::Object* ImageDescriptorObject::contentCopy() const {
  auto* copy = new ImageDescriptorObject;
  copy->shape = shape;
  copy->cpu_cache_mode = cpu_cache_mode;
  copy->storage_mode = storage_mode;
  copy->usage = usage;
  return copy;
}

std::vector<ImageObject*> images_of(const MPS::ImageBatch* batch) {
  return foundation::elements_of<ImageObject>(batch);
}

MPS::ImageBatch* batch_of(const std::vector<ImageObject*>& images) {
  const std::vector<const NS::Object*> objects(images.begin(), images.end());
  return NS::Array::array(objects.data(), objects.size());
}

namespace {

void set_shape(ImageObject& image, MTL::Device* device, const ImageShape& shape) {
  image.device = NS::RetainPtr(device);
  image.shape = shape;
  image.pixel_stride = stored_channels(shape.channels);
  image.image_stride = shape.height * shape.width * image.pixel_stride;
}

template <class Object>
Object* refused(Object* object, const char* call, const std::string& reason) {
  foundation::report_misuse(call, reason);
  return foundation::failed_init(object);
}

bool allocate(ImageObject& image, const ImageDescriptorObject& descriptor) {
  const MTL::ResourceOptions options =
      metal::ResourceModes{.storage = descriptor.storage_mode, .cpu_cache = descriptor.cpu_cache_mode}.options();
  // One that holds several is a batch by itself.
  ImageMemory memory;
  if (image.shape.images > 1)
    memory.buffer = NS::TransferPtr(image.device->newBuffer(bytes_of(image.shape), options));
  else
    memory = take_image_memory(image.device.get(), options, bytes_of(image.shape));
  if (!memory.buffer) return false;
  image.buffer = std::move(memory.buffer);
  image.offset = memory.offset;
  image.memory = std::move(memory.place);
  image.usage = descriptor.usage;
  auto* bytes = static_cast<char*>(image.buffer->contents());
  const bool has_padding = image.shape.channels != image.pixel_stride;
  if (has_padding && bytes) std::memset(bytes + image.offset, 0, bytes_of(image.shape));
  image.padding_is_zero = !has_padding || bytes;
  return true;
}

// Another image in the memory of this one.
ImageObject* part_of_image(const ImageObject& whole) {
  auto* part = new ImageObject;
  part->device = whole.device;
  part->shape = whole.shape;
  part->pixel_stride = whole.pixel_stride;
  part->image_stride = whole.image_stride;
  part->buffer = whole.buffer;
  part->offset = whole.offset;
  part->memory = whole.memory;
  part->usage = whole.usage;
  part->block = whole.block;
  part->is_part_of_channels = whole.is_part_of_channels;
  part->parent = NS::RetainPtr<MPS::Image>(const_cast<ImageObject*>(&whole));
  return part;
}

class LastingImages final : public MPS::ImageAllocator {
 public:
  MPS::Image* image(MTL::CommandBuffer* commands, MPS::ImageDescriptor* descriptor, MPS::Kernel*) override {
    const auto images = lasting_images(commands->device(), *body(descriptor), 1);
    return images.empty() ? nullptr : images.front();
  }
  MPS::ImageBatch* imageBatch(MTL::CommandBuffer* commands, MPS::ImageDescriptor* descriptor, MPS::Kernel*,
                              NS::UInteger count) override {
    const auto images = lasting_images(commands->device(), *body(descriptor), count);
    return batch_of(images);
  }
};

class TemporaryImages final : public MPS::ImageAllocator {
 public:
  MPS::Image* image(MTL::CommandBuffer* commands, MPS::ImageDescriptor* descriptor, MPS::Kernel*) override {
    const auto images = temporary_images(commands, body(descriptor)->shape, 1);
    return images.empty() ? nullptr : images.front();
  }
  MPS::ImageBatch* imageBatch(MTL::CommandBuffer* commands, MPS::ImageDescriptor* descriptor, MPS::Kernel*,
                              NS::UInteger count) override {
    const auto images = temporary_images(commands, body(descriptor)->shape, count);
    return batch_of(images);
  }
};

}  // namespace

std::vector<ImageObject*> temporary_images(MTL::CommandBuffer* command_buffer, const ImageShape& shape, size_t count) {
  constexpr const char* call = "+[MPSTemporaryImage temporaryImageWithCommandBuffer:imageDescriptor:]";
  Status status = command_buffer ? check(shape) : Status(Error{"commandBuffer is null"});
  MTL::Buffer* buffer = status ? temporary_buffer(command_buffer, bytes_of(shape) * count) : nullptr;
  if (status && !buffer) status = Error{fmt::format("there is no memory for {} bytes", bytes_of(shape) * count)};
  if (!status) {
    foundation::report_misuse(call, status.error());
    return {};
  }
  const auto block = std::make_shared<TemporaryBlock>(TemporaryBlock{temporary_home(command_buffer), buffer, count});
  std::vector<ImageObject*> images;
  for (size_t i = 0; i < count; ++i) {
    auto* image = new ImageObject;
    set_shape(*image, command_buffer->device(), shape);
    image->buffer = NS::RetainPtr(buffer);
    image->offset = i * bytes_of(shape);
    image->block = block;
    image->padding_is_zero = shape.channels == image->pixel_stride;
    images.push_back(foundation::autoreleased(image));
  }
  return images;
}

std::vector<ImageObject*> lasting_images(MTL::Device* device, const ImageDescriptorObject& descriptor, size_t count) {
  std::vector<ImageObject*> images;
  for (size_t i = 0; i < count; ++i) {
    auto* image = static_cast<ImageObject*>(MPS::Image::alloc()->init(device, &descriptor));
    if (!image) return {};
    images.push_back(foundation::autoreleased(image));
  }
  return images;
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

ImageDescriptor* ImageDescriptor::imageDescriptor(ImageFeatureChannelFormat channelFormat, NS::UInteger width,
                                                  NS::UInteger height, NS::UInteger featureChannels) {
  return imageDescriptor(channelFormat, width, height, featureChannels, 1,
                         MTL::TextureUsageShaderRead | MTL::TextureUsageShaderWrite);
}

ImageDescriptor* ImageDescriptor::imageDescriptor(ImageFeatureChannelFormat channelFormat, NS::UInteger width,
                                                  NS::UInteger height, NS::UInteger featureChannels,
                                                  NS::UInteger numberOfImages, MTL::TextureUsage usage) {
  auto* descriptor = new ImageDescriptorObject;
  descriptor->shape = {width, height, featureChannels, numberOfImages, channelFormat};
  descriptor->usage = usage;
  return foundation::autoreleased(static_cast<ImageDescriptor*>(descriptor));
}

#define DESCRIPTOR_PROPERTY(Type, getter, setter, member, nothing) \
  Type ImageDescriptor::getter() const {                           \
    const auto* self = body(this);                                 \
    return self ? self->member : Type nothing;                     \
  }                                                                \
  void ImageDescriptor::setter(Type value) {                       \
    if (auto* self = body(this)) self->member = value;             \
  }
DESCRIPTOR_PROPERTY(NS::UInteger, width, setWidth, shape.width, (0))
DESCRIPTOR_PROPERTY(NS::UInteger, height, setHeight, shape.height, (0))
DESCRIPTOR_PROPERTY(NS::UInteger, featureChannels, setFeatureChannels, shape.channels, (0))
DESCRIPTOR_PROPERTY(NS::UInteger, numberOfImages, setNumberOfImages, shape.images, (0))
DESCRIPTOR_PROPERTY(ImageFeatureChannelFormat, channelFormat, setChannelFormat, shape.format,
                    (ImageFeatureChannelFormatNone))
DESCRIPTOR_PROPERTY(MTL::CPUCacheMode, cpuCacheMode, setCpuCacheMode, cpu_cache_mode, (MTL::CPUCacheModeDefaultCache))
DESCRIPTOR_PROPERTY(MTL::StorageMode, storageMode, setStorageMode, storage_mode, (MTL::StorageModeShared))
DESCRIPTOR_PROPERTY(MTL::TextureUsage, usage, setUsage, usage, (MTL::TextureUsageUnknown))

MTL::PixelFormat ImageDescriptor::pixelFormat() const {
  const auto* self = body(this);
  return self ? pixel_format_of(self->shape) : MTL::PixelFormatInvalid;
}

ImageBatch* ImageAllocator::imageBatch(MTL::CommandBuffer* commandBuffer, ImageDescriptor* descriptor, Kernel* kernel,
                                       NS::UInteger count) {
  std::vector<const NS::Object*> images;
  for (NS::UInteger i = 0; i < count; ++i)
    if (Image* made = image(commandBuffer, descriptor, kernel)) images.push_back(made);
  return NS::Array::array(images.data(), images.size());
}

ImageAllocator* Image::defaultAllocator() {
  static ImageAllocator* allocator = new LastingImages;
  return allocator;
}

Image* Image::alloc() {
  return new ImageObject;
}

Image* Image::init(MTL::Device* device, const ImageDescriptor* imageDescriptor) {
  ImageObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSImage initWithDevice:imageDescriptor:]";
  if (!device) return refused(self, call, "device is null");
  if (!imageDescriptor) return refused(self, call, "imageDescriptor is null");
  const ImageDescriptorObject& descriptor = *body(imageDescriptor);
  if (const Status status = check(descriptor.shape); !status) return refused(self, call, status.error());
  set_shape(*self, device, descriptor.shape);
  if (!allocate(*self, descriptor))
    return refused(self, call, fmt::format("there is no memory for {} bytes", bytes_of(descriptor.shape)));
  return self;
}

Image* Image::init(const Image* parent, NS::Range sliceRange, NS::UInteger featureChannels) {
  ImageObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSImage initWithParentImage:sliceRange:featureChannels:]";
  if (!parent) return refused(self, call, "parentImage is null");
  const ImageObject& whole = *body(parent);
  const size_t slices = (whole.shape.channels + 3) / 4;
  if (whole.shape.images != 1 || sliceRange.length == 0 || sliceRange.location + sliceRange.length > slices)
    return refused(self, call, fmt::format("sliceRange must be in the {} slices of a single image", slices));
  if (featureChannels == 0 || featureChannels > sliceRange.length * 4)
    return refused(
        self, call,
        fmt::format("featureChannels ({}) must be in the slices' {}", featureChannels, sliceRange.length * 4));
  Image* part = parent->subImage(NS::Range::Make(sliceRange.location * 4, featureChannels));
  self->release();
  return part ? part->retain() : nullptr;
}

Image* Image::init(const MTL::Texture* texture, NS::UInteger featureChannels) {
  ImageObject* self = body(this);
  if (!self) return nullptr;
  constexpr const char* call = "-[MPSImage initWithTexture:featureChannels:]";
  if (!texture) return refused(self, call, "texture is null");
  if (const Status status = show_texture(*self, const_cast<MTL::Texture*>(texture), featureChannels); !status)
    return refused(self, call, status.error());
  return self;
}

MTL::Device* Image::device() const {
  const auto* self = body(this);
  return self ? self->device.get() : nullptr;
}
NS::UInteger Image::width() const {
  const auto* self = body(this);
  return self ? self->shape.width : 0;
}
NS::UInteger Image::height() const {
  const auto* self = body(this);
  return self ? self->shape.height : 0;
}
NS::UInteger Image::featureChannels() const {
  const auto* self = body(this);
  return self ? self->shape.channels : 0;
}
NS::UInteger Image::numberOfImages() const {
  const auto* self = body(this);
  return self ? self->shape.images : 0;
}
MTL::TextureType Image::textureType() const {
  const auto* self = body(this);
  return self && (self->shape.channels > 4 || self->shape.images > 1) ? MTL::TextureType2DArray : MTL::TextureType2D;
}
MTL::PixelFormat Image::pixelFormat() const {
  const auto* self = body(this);
  if (!self) return MTL::PixelFormatInvalid;
  return self->texture ? self->texture->pixelFormat() : pixel_format_of(self->shape);
}
ImageFeatureChannelFormat Image::featureChannelFormat() const {
  const auto* self = body(this);
  return self ? self->shape.format : ImageFeatureChannelFormatNone;
}
NS::UInteger Image::precision() const {
  switch (featureChannelFormat()) {
    case ImageFeatureChannelFormatUnorm8:
      return 8;
    case ImageFeatureChannelFormatUnorm16:
      return 16;
    case ImageFeatureChannelFormatFloat16:
      return 11;
    case ImageFeatureChannelFormatFloat32:
      return 24;
    default:
      return 0;
  }
}
MTL::TextureUsage Image::usage() const {
  const auto* self = body(this);
  return self ? self->usage : MTL::TextureUsageUnknown;
}
size_t Image::pixelSize() const {
  const auto* self = body(this);
  return self ? self->pixel_stride * bytes_of(self->shape.format) : 0;
}

MTL::Texture* Image::texture() const {
  auto* self = body(this);
  if (!self) return nullptr;
  if (!self->texture) {
    self->texture = new_texture_of(*self);
    self->padding_is_zero = false;
  }
  return self->texture.get();
}

NS::String* Image::label() const {
  const auto* self = body(this);
  return self ? self->label.get() : nullptr;
}
void Image::setLabel(const NS::String* label) {
  if (auto* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}
Image* Image::parent() const {
  const auto* self = body(this);
  return self ? self->parent.get() : nullptr;
}

ImageBatch* Image::batchRepresentation() const {
  return batchRepresentation(NS::Range::Make(0, numberOfImages()));
}

ImageBatch* Image::batchRepresentation(NS::Range subRange) const {
  const auto* self = body(this);
  if (!self) return nullptr;
  if (subRange.location > self->shape.images || subRange.length > self->shape.images - subRange.location) {
    foundation::report_misuse("-[MPSImage batchRepresentationWithSubRange:]",
                              fmt::format("subRange is not in the image's {} images", self->shape.images));
    return nullptr;
  }
  std::vector<const NS::Object*> parts;
  for (size_t i = 0; i < subRange.length; ++i) {
    ImageObject* part = part_of_image(*self);
    part->shape.images = 1;
    part->offset = self->place_of_image(subRange.location + i).offset;
    part->padding_is_zero = self->padding_is_zero;
    parts.push_back(foundation::autoreleased(part));
  }
  return NS::Array::array(parts.data(), parts.size());
}

Image* Image::subImage(NS::Range featureChannelRange) const {
  const auto* self = body(this);
  if (!self) return nullptr;
  if (featureChannelRange.length == 0 ||
      featureChannelRange.location + featureChannelRange.length > self->shape.channels) {
    foundation::report_misuse("-[MPSImage subImageWithFeatureChannelRange:]",
                              fmt::format("range is not in the image's {} channels", self->shape.channels));
    return nullptr;
  }
  ImageObject* part = part_of_image(*self);
  part->shape.channels = featureChannelRange.length;
  part->is_part_of_channels = true;
  part->offset += featureChannelRange.location * bytes_of(self->shape.format);
  return foundation::autoreleased(static_cast<Image*>(part));
}

NS::UInteger Image::resourceSize() const {
  const auto* self = body(this);
  return self ? bytes_of(self->shape) : 0;
}

// Images share their slabs: nothing is ever thrown away.
PurgeableState Image::setPurgeableState(PurgeableState) {
  return PurgeableStateNonVolatile;
}

// The host sees what completed command buffers wrote without this.
void Image::synchronize(MTL::CommandBuffer*) {}

ImageAllocator* TemporaryImage::defaultAllocator() {
  static ImageAllocator* allocator = new TemporaryImages;
  return allocator;
}

TemporaryImage* TemporaryImage::temporaryImage(MTL::CommandBuffer* commandBuffer,
                                               const ImageDescriptor* imageDescriptor) {
  if (!imageDescriptor) {
    foundation::report_misuse("+[MPSTemporaryImage temporaryImageWithCommandBuffer:imageDescriptor:]",
                              "imageDescriptor is null");
    return nullptr;
  }
  const auto images = temporary_images(commandBuffer, body(imageDescriptor)->shape, 1);
  return images.empty() ? nullptr : images.front();
}

// Memory is pooled: there is nothing to prepare.
void TemporaryImage::prefetchStorage(MTL::CommandBuffer*, const NS::Array*) {}

NS::UInteger TemporaryImage::readCount() const {
  const auto* self = body(this);
  return self ? self->read_count : 0;
}
void TemporaryImage::setReadCount(NS::UInteger readCount) {
  if (auto* self = body(this)) self->set_read_count(readCount);
}

NS::UInteger ImageBatchIncrementReadCount(const ImageBatch* batch, NS::Integer amount) {
  std::set<ImageObject*> different;
  for (ImageObject* image : images_of(batch))
    if (different.insert(image).second && image->block && image->read_count > 0)
      image->set_read_count(NS::UInteger(NS::Integer(image->read_count) + amount));
  return different.size();
}

void ImageBatchSynchronize(const ImageBatch*, MTL::CommandBuffer*) {}

NS::UInteger ImageBatchResourceSize(const ImageBatch* batch) {
  std::set<ImageObject*> different;
  NS::UInteger bytes = 0;
  for (ImageObject* image : images_of(batch))
    if (different.insert(image).second) bytes += image->resourceSize();
  return bytes;
}

NS::Integer ImageBatchIterate(const ImageBatch* batch,
                              const std::function<NS::Integer(Image* image, NS::UInteger index)>& iterator) {
  std::set<ImageObject*> different;
  NS::Integer answer = NS::IntegerMin;
  const std::vector<ImageObject*> images = images_of(batch);
  for (size_t i = 0; i < images.size() && answer == NS::IntegerMin; ++i)
    if (different.insert(images[i]).second) answer = iterator(images[i], i);
  return answer;
}

}  // namespace MPS
