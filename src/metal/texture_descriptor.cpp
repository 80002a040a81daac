#include "metal/texture_descriptor.hpp"

#include <algorithm>
#include <bit>

namespace MTL {

using namespace metalloid::metal;

ALLOC(TextureDescriptor)
PROPERTY(TextureDescriptor, textureType, setTextureType)
PROPERTY(TextureDescriptor, pixelFormat, setPixelFormat)
PROPERTY(TextureDescriptor, width, setWidth)
PROPERTY(TextureDescriptor, height, setHeight)
PROPERTY(TextureDescriptor, depth, setDepth)
PROPERTY(TextureDescriptor, mipmapLevelCount, setMipmapLevelCount)
PROPERTY(TextureDescriptor, sampleCount, setSampleCount)
PROPERTY(TextureDescriptor, arrayLength, setArrayLength)
PROPERTY(TextureDescriptor, storageMode, setStorageMode)
PROPERTY(TextureDescriptor, cpuCacheMode, setCpuCacheMode)
PROPERTY(TextureDescriptor, hazardTrackingMode, setHazardTrackingMode)
PROPERTY(TextureDescriptor, usage, setUsage)
PROPERTY(TextureDescriptor, allowGPUOptimizedContents, setAllowGPUOptimizedContents)
PROPERTY(TextureDescriptor, compressionType, setCompressionType)
PROPERTY(TextureDescriptor, swizzle, setSwizzle)
PROPERTY(TextureDescriptor, placementSparsePageSize, setPlacementSparsePageSize)

ResourceOptions TextureDescriptor::resourceOptions() const {
  const TextureProperties* self = properties(this);
  return self ? self->modes().options() : ResourceOptions{};
}

void TextureDescriptor::setResourceOptions(ResourceOptions options) {
  TextureProperties* self = properties(this);
  if (!self) return;
  const ResourceModes modes = ResourceModes::from(options);
  self->storageMode = modes.storage;
  self->cpuCacheMode = modes.cpu_cache;
  self->hazardTrackingMode = modes.hazard_tracking;
}

TextureDescriptor* TextureDescriptor::texture2DDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                          NS::UInteger height, bool mipmapped) {
  TextureDescriptor* descriptor = alloc()->init()->autorelease();
  TextureProperties* self = properties(descriptor);
  self->pixelFormat = pixelFormat;
  self->width = width;
  self->height = height;
  if (mipmapped) self->mipmapLevelCount = std::bit_width(std::max({width, height, NS::UInteger{1}}));
  return descriptor;
}

TextureDescriptor* TextureDescriptor::textureCubeDescriptor(PixelFormat pixelFormat, NS::UInteger size,
                                                            bool mipmapped) {
  TextureDescriptor* descriptor = texture2DDescriptor(pixelFormat, size, size, mipmapped);
  properties(descriptor)->textureType = TextureTypeCube;
  return descriptor;
}

TextureDescriptor* TextureDescriptor::textureBufferDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                              ResourceOptions resourceOptions, TextureUsage usage) {
  TextureDescriptor* descriptor = texture2DDescriptor(pixelFormat, width, 1, false);
  descriptor->setResourceOptions(resourceOptions);
  TextureProperties* self = properties(descriptor);
  self->textureType = TextureTypeTextureBuffer;
  self->usage = usage;
  return descriptor;
}

ALLOC(TextureViewDescriptor)
PROPERTY(TextureViewDescriptor, textureType, setTextureType)
PROPERTY(TextureViewDescriptor, pixelFormat, setPixelFormat)
PROPERTY(TextureViewDescriptor, swizzle, setSwizzle)

NS::Range TextureViewDescriptor::levelRange() const {
  const TextureViewProperties* self = properties(this);
  return self ? self->levelRange : NS::Range(0, 0);
}

void TextureViewDescriptor::setLevelRange(NS::Range range) {
  if (TextureViewProperties* self = properties(this)) self->levelRange = range;
}

NS::Range TextureViewDescriptor::sliceRange() const {
  const TextureViewProperties* self = properties(this);
  return self ? self->sliceRange : NS::Range(0, 0);
}

void TextureViewDescriptor::setSliceRange(NS::Range range) {
  if (TextureViewProperties* self = properties(this)) self->sliceRange = range;
}

}  // namespace MTL
