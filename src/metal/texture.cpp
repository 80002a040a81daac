#include "metal/texture.hpp"

#include <fmt/format.h>

#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <cstring>
#include <utility>

#include "device/pixel_format.hpp"
#include "metal/align.hpp"
#include "metal/buffer.hpp"
#include "metal/device.hpp"
#include "metal/heap.hpp"
#include "metal/misuse.hpp"
#include "metal/small_memory.hpp"
#include "metal/texture_layout.hpp"

namespace metalloid::metal {

namespace {

// Null if there is no memory for the description.
TextureObject* make_texture(DeviceObject* device, ResourceModes modes, Placement placement,
                            const device::TextureDescription& texture, MTL::TextureUsage usage) {
  auto memory = take_small_memory(*device->device, sizeof texture, device::Storage::shared);
  if (!memory) return nullptr;
  std::memcpy(memory->host, &texture, sizeof texture);
  return new TextureObject(device, modes, std::move(placement), std::move(memory), usage);
}

TextureObject* make_texture(DeviceObject* device, const TextureProperties& asked, Placement placement,
                            device::TextureDescription texture) {
  texture.base = placement.memory->address + placement.offset;
  TextureObject* made = make_texture(device, asked.modes(), std::move(placement), texture, asked.usage);
  if (made) made->allow_gpu_optimized_contents = asked.allowGPUOptimizedContents;
  return made;
}

MTL::Texture* make_texture_in_heap(HeapObject* heap, const MTL::TextureDescriptor* descriptor,
                                   std::optional<uint64_t> offset, Call call = Call::current()) {
  if (!heap || !descriptor) return nullptr;
  const TextureProperties& asked = *properties(descriptor);
  const auto layout = lay_out(asked);
  if (!layout) {
    report_misuse(nullptr, layout.error(), call);
    return nullptr;
  }
  auto placement = heap->place(layout->bytes, asked.modes(), offset);
  if (placement) return make_texture(heap->device, asked, *std::move(placement), layout->description);
  report_misuse(nullptr, placement.error(), call);
  return nullptr;
}

// What is wrong with a texture's place in a buffer; empty if nothing is.
std::string check_place(const BufferObject& buffer, const TextureProperties& asked, uint64_t bytes, uint64_t offset) {
  if (offset % linear_texture_alignment != 0)
    return fmt::format("offset {} must be a multiple of minimumLinearTextureAlignmentForPixelFormat ({})", offset,
                       linear_texture_alignment);
  if (offset > buffer.length || bytes > buffer.length - offset)
    return fmt::format("{} bytes at offset {} are not in a buffer of {} bytes", bytes, offset, buffer.length);
  if (asked.storageMode != buffer.modes.storage) return "a texture in a buffer must have the buffer's storage mode";
  return "";
}

// Whether the formats differ in more than sRGB's gamma, which a texture must be made for.
bool differ(unsigned parent, MTL::PixelFormat view) {
  const auto linear = [](device::PixelFormat format) {
    if (format.numbers == device::Numbers::srgb) format.numbers = device::Numbers::unorm;
    return format;
  };
  const device::PixelFormat a = linear(device::pixel_format(parent));
  const device::PixelFormat b = linear(device::pixel_format(static_cast<unsigned>(view)));
  return a.numbers != b.numbers || !std::ranges::equal(a.shift, b.shift) || !std::ranges::equal(a.width, b.width);
}

MTL::Texture* make_view(TextureObject* parent, const TextureViewProperties& asked, Call call = Call::current()) {
  if (!parent) return nullptr;
  const auto view = lay_out_view(parent->description(), asked);
  if (!view) {
    report_misuse(nullptr, view.error(), call);
    return nullptr;
  }
  const bool reinterprets = differ(parent->description().pixel_format, asked.pixelFormat);
  if (reinterprets && parent->usage != MTL::TextureUsageUnknown && !(parent->usage & MTL::TextureUsagePixelFormatView))
    report_misuse(nullptr, "the texture's usage lacks MTLTextureUsagePixelFormatView", call);
  Placement placement = parent->placement;
  placement.borrowed = true;
  TextureObject* made = make_texture(parent->device, parent->modes, std::move(placement), *view, parent->usage);
  if (!made) return nullptr;
  made->parent = NS::RetainPtr<MTL::Texture>(parent);
  made->parent_level = asked.levelRange.location;
  made->parent_slice = asked.sliceRange.location;
  made->allow_gpu_optimized_contents = parent->allow_gpu_optimized_contents;
  return made;
}

TextureViewProperties whole(const TextureObject& texture) {
  TextureViewProperties asked;
  asked.textureType = static_cast<MTL::TextureType>(texture.description().type);
  asked.levelRange = NS::Range::Make(0, texture.description().levels);
  asked.sliceRange = NS::Range::Make(0, texture.description().slices);
  return asked;
}

const TextureObject& root(const TextureObject& texture) {
  return texture.parent ? root(*body(texture.parent.get())) : texture;
}

std::string first_out_of_bounds(MTL::Region region, MTL::Size size) {
  const auto beyond = [](NS::UInteger origin, NS::UInteger length, NS::UInteger limit) {
    return length > limit || origin > limit - length;
  };
  if (beyond(region.origin.x, region.size.width, size.width)) return "width";
  if (beyond(region.origin.y, region.size.height, size.height)) return "height";
  if (beyond(region.origin.z, region.size.depth, size.depth)) return "depth";
  return "";
}

}  // namespace

TextureObject::TextureObject(DeviceObject* device, ResourceModes modes, Placement placement,
                             std::shared_ptr<device::Memory> description, MTL::TextureUsage usage)
    : ResourcePart(device, modes, std::move(placement)),
      handle(description->address),
      usage(usage),
      description_(std::move(description)) {}

TextureObject::~TextureObject() = default;

MTL::Size TextureObject::level_size(NS::UInteger level) const {
  return metal::level_size(description(), level);
}

Result<TextureBytes> TextureObject::bytes_of(MTL::Region region, NS::UInteger level, NS::UInteger slice) const {
  const device::TextureDescription& texture = description();
  if (level >= texture.levels) return Error{fmt::format("level {} of a texture with {} levels", level, texture.levels)};
  if (slice >= texture.slices) return Error{fmt::format("slice {} of a texture with {} slices", slice, texture.slices)};
  if (texture.bytes_per_texel != device::pixel_format(texture.pixel_format).bytes)
    return Error{"the texture shows an MPSImage, whose texels are apart: only kernels can read and write it"};
  const MTL::Size size = level_size(level);
  if (const std::string direction = first_out_of_bounds(region, size); !direction.empty())
    return Error{fmt::format("the region is beyond the texture's {}: level {} is {} x {} x {} texels", direction, level,
                             size.width, size.height, size.depth)};
  const device::TextureLevel& place = texture.level[level];
  const uint64_t texel = uint64_t{texture.bytes_per_texel} * texture.samples;
  const uint64_t offset = place.offset + (slice + region.origin.z) * place.image_bytes +
                          region.origin.y * place.row_bytes + region.origin.x * texel;
  uint8_t* host = first_host_byte();
  return TextureBytes{.address = texture.base + offset,
                      .host = host ? host + offset : nullptr,
                      .row_bytes = region.size.width * texel,
                      .rows = region.size.height,
                      .images = region.size.depth,
                      .row_stride = place.row_bytes,
                      .image_stride = place.image_bytes};
}

MTL::Texture* make_strided_texture(MTL::Buffer* buffer, uint64_t offset, device::TextureDescription texture,
                                   MTL::TextureUsage usage) {
  BufferObject* memory = body(buffer);
  Placement placement = memory->placement;
  placement.offset += offset;
  placement.size = memory->length - offset;
  placement.borrowed = true;
  texture.base = placement.memory->address + placement.offset;
  TextureObject* made = make_texture(memory->device, memory->modes, std::move(placement), texture, usage);
  if (made) made->buffer = NS::RetainPtr(buffer);
  return made;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Texture* Device::newTexture(const TextureDescriptor* descriptor) {
  DeviceObject* self = body(this);
  if (!self || !descriptor) return nullptr;
  const TextureProperties& asked = *properties(descriptor);
  const auto layout = lay_out(asked);
  if (!layout) {
    report_misuse(nullptr, layout.error());
    return nullptr;
  }
  if (layout->bytes > self->info().max_buffer_length) return nullptr;
  auto memory = allocate_memory(*self, layout->bytes, asked.storageMode, asked.cpuCacheMode);
  if (!memory) return nullptr;
  const uint64_t size = memory->size;
  return make_texture(self, asked, Placement{std::move(memory), 0, size}, layout->description);
}

Texture* Device::newTexture(const TextureDescriptor*, IOSurfaceRef, NS::UInteger) {
  report_misuse(nullptr, "there are no IOSurfaces here");
  return nullptr;
}

Texture* Device::newSharedTexture(const TextureDescriptor*) {
  report_misuse(nullptr, "textures cannot be shared between processes");
  return nullptr;
}

Texture* Device::newSharedTexture(const SharedTextureHandle*) {
  report_misuse(nullptr, "textures cannot be shared between processes");
  return nullptr;
}

SizeAndAlign Device::heapTextureSizeAndAlign(const TextureDescriptor* descriptor) {
  if (!descriptor) return {};
  const auto layout = lay_out(*properties(descriptor));
  if (layout) return {align(layout->bytes, heap_alignment), heap_alignment};
  report_misuse(nullptr, layout.error());
  return {};
}

NS::UInteger Device::minimumLinearTextureAlignmentForPixelFormat(PixelFormat) {
  return linear_texture_alignment;
}

NS::UInteger Device::minimumTextureBufferAlignmentForPixelFormat(PixelFormat) {
  return linear_texture_alignment;
}

Texture* Heap::newTexture(const TextureDescriptor* descriptor) {
  return make_texture_in_heap(body(this), descriptor, std::nullopt);
}

Texture* Heap::newTexture(const TextureDescriptor* descriptor, NS::UInteger offset) {
  return make_texture_in_heap(body(this), descriptor, offset);
}

Texture* Buffer::newTexture(const TextureDescriptor* descriptor, NS::UInteger offset, NS::UInteger bytesPerRow) {
  BufferObject* self = body(this);
  if (!self || !descriptor) return nullptr;
  const TextureProperties& asked = *properties(descriptor);
  const auto layout = lay_out_linear(asked, bytesPerRow);
  const std::string wrong = layout ? check_place(*self, asked, layout->bytes, offset) : layout.error();
  if (!wrong.empty()) {
    report_misuse(nullptr, wrong);
    return nullptr;
  }
  Placement placement = self->placement;
  placement.offset += offset;
  placement.size = layout->bytes;
  placement.borrowed = true;
  TextureObject* texture = make_texture(self->device, asked, std::move(placement), layout->description);
  if (!texture) return nullptr;
  texture->buffer = NS::RetainPtr<Buffer>(self);
  texture->buffer_offset = offset;
  texture->buffer_bytes_per_row = layout->description.level[0].row_bytes;
  return texture;
}

Texture* Texture::newTextureView(PixelFormat pixelFormat) {
  TextureObject* self = body(this);
  if (!self) return nullptr;
  TextureViewProperties asked = whole(*self);
  asked.pixelFormat = pixelFormat;
  return make_view(self, asked);
}

Texture* Texture::newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange,
                                 NS::Range sliceRange) {
  return make_view(body(this), {textureType, pixelFormat, levelRange, sliceRange, {}});
}

Texture* Texture::newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange,
                                 NS::Range sliceRange, TextureSwizzleChannels swizzle) {
  return make_view(body(this), {textureType, pixelFormat, levelRange, sliceRange, swizzle});
}

Texture* Texture::newTextureView(const TextureViewDescriptor* descriptor) {
  return descriptor ? make_view(body(this), *properties(descriptor)) : nullptr;
}

Texture* Texture::newRemoteTextureViewForDevice(const Device*) {
  report_misuse(nullptr, "devices here have no peers that see each other's memory");
  return nullptr;
}

SharedTextureHandle* Texture::newSharedTextureHandle() {
  report_misuse(nullptr, "textures cannot be shared between processes");
  return nullptr;
}

Texture* Texture::remoteStorageTexture() const {
  return nullptr;
}

// What a question about a texture answers; zero for null.
static auto ask(const Texture* texture, auto question) {
  const TextureObject* self = body(texture);
  return self ? question(*self) : decltype(question(*self)){};
}

TextureType Texture::textureType() const {
  return ask(this, [](const TextureObject& self) { return static_cast<TextureType>(self.description().type); });
}

PixelFormat Texture::pixelFormat() const {
  return ask(this, [](const TextureObject& self) { return static_cast<PixelFormat>(self.description().pixel_format); });
}

NS::UInteger Texture::width() const {
  return ask(this, [](const TextureObject& self) { return NS::UInteger{self.description().width}; });
}

NS::UInteger Texture::height() const {
  return ask(this, [](const TextureObject& self) { return NS::UInteger{self.description().height}; });
}

NS::UInteger Texture::depth() const {
  return ask(this, [](const TextureObject& self) { return NS::UInteger{self.description().depth}; });
}

NS::UInteger Texture::mipmapLevelCount() const {
  return ask(this, [](const TextureObject& self) { return NS::UInteger{self.description().levels}; });
}

NS::UInteger Texture::sampleCount() const {
  return ask(this, [](const TextureObject& self) { return NS::UInteger{self.description().samples}; });
}

NS::UInteger Texture::arrayLength() const {
  return ask(this, [](const TextureObject& self) -> NS::UInteger {
    const auto& texture = self.description();
    return is_cube(static_cast<TextureType>(texture.type)) ? texture.slices / 6 : texture.slices;
  });
}

TextureUsage Texture::usage() const {
  return ask(this, [](const TextureObject& self) { return self.usage; });
}

TextureSwizzleChannels Texture::swizzle() const {
  return ask(this, [](const TextureObject& self) {
    const auto channel = [&self](int i) { return static_cast<TextureSwizzle>(self.description().swizzle[i]); };
    return TextureSwizzleChannels(channel(0), channel(1), channel(2), channel(3));
  });
}

ResourceID Texture::gpuResourceID() const {
  return ask(this, [](const TextureObject& self) { return ResourceID{self.handle}; });
}

bool Texture::allowGPUOptimizedContents() const {
  return ask(this, [](const TextureObject& self) { return self.allow_gpu_optimized_contents; });
}

Texture* Texture::parentTexture() const {
  return ask(this, [](const TextureObject& self) { return self.parent.get(); });
}

NS::UInteger Texture::parentRelativeLevel() const {
  return ask(this, [](const TextureObject& self) { return self.parent_level; });
}

NS::UInteger Texture::parentRelativeSlice() const {
  return ask(this, [](const TextureObject& self) { return self.parent_slice; });
}

Buffer* Texture::buffer() const {
  return ask(this, [](const TextureObject& self) { return root(self).buffer.get(); });
}

NS::UInteger Texture::bufferOffset() const {
  return ask(this, [](const TextureObject& self) { return root(self).buffer_offset; });
}

NS::UInteger Texture::bufferBytesPerRow() const {
  return ask(this, [](const TextureObject& self) { return root(self).buffer_bytes_per_row; });
}

Resource* Texture::rootResource() const {
  return ask(this, [](const TextureObject& self) -> Resource* {
    const TextureObject& first = root(self);
    if (first.buffer) return first.buffer.get();
    return self.parent ? const_cast<TextureObject*>(&first) : nullptr;
  });
}

TextureCompressionType Texture::compressionType() const {
  return TextureCompressionTypeLossless;
}

bool Texture::isFramebufferOnly() const {
  return false;
}

bool Texture::isShareable() const {
  return false;
}

bool Texture::isSparse() const {
  return false;
}

TextureSparseTier Texture::sparseTextureTier() const {
  return TextureSparseTierNone;
}

NS::UInteger Texture::firstMipmapInTail() const {
  return 0;
}

NS::UInteger Texture::tailSizeInBytes() const {
  return 0;
}

IOSurfaceRef Texture::iosurface() const {
  return nullptr;
}

NS::UInteger Texture::iosurfacePlane() const {
  return 0;
}

// Handles are made by textures only, and no texture makes one.
SharedTextureHandle* SharedTextureHandle::alloc() {
  return nullptr;
}

SharedTextureHandle* SharedTextureHandle::init() {
  return this;
}

Device* SharedTextureHandle::device() const {
  return nullptr;
}

NS::String* SharedTextureHandle::label() const {
  return nullptr;
}

}  // namespace MTL
