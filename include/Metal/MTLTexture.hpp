// Images: what a texture is made of, ways to view it, and access to its bytes.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLPixelFormat.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class Device;

_MTL_ENUM(NS::UInteger, TextureType){
    TextureType1D = 0,
    TextureType1DArray = 1,
    TextureType2D = 2,
    TextureType2DArray = 3,
    TextureType2DMultisample = 4,
    TextureTypeCube = 5,
    TextureTypeCubeArray = 6,
    TextureType3D = 7,
    TextureType2DMultisampleArray = 8,
    TextureTypeTextureBuffer = 9,
};

_MTL_ENUM(uint8_t, TextureSwizzle){
    TextureSwizzleZero = 0,  TextureSwizzleOne = 1,  TextureSwizzleRed = 2,
    TextureSwizzleGreen = 3, TextureSwizzleBlue = 4, TextureSwizzleAlpha = 5,
};

_MTL_ENUM(NS::Integer, TextureCompressionType){
    TextureCompressionTypeLossless = 0,
    TextureCompressionTypeLossy = 1,
};

_MTL_OPTIONS(NS::UInteger, TextureUsage){
    TextureUsageUnknown = 0,           TextureUsageShaderRead = 1,           TextureUsageShaderWrite = 1 << 1,
    TextureUsageRenderTarget = 1 << 2, TextureUsagePixelFormatView = 1 << 4, TextureUsageShaderAtomic = 1 << 5,
};

struct TextureSwizzleChannels {
  TextureSwizzleChannels()
      : TextureSwizzleChannels(TextureSwizzleRed, TextureSwizzleGreen, TextureSwizzleBlue, TextureSwizzleAlpha) {}
  TextureSwizzleChannels(TextureSwizzle r, TextureSwizzle g, TextureSwizzle b, TextureSwizzle a)
      : red(r), green(g), blue(b), alpha(a) {}
  static TextureSwizzleChannels Default() { return TextureSwizzleChannels(); }
  static TextureSwizzleChannels Make(TextureSwizzle r, TextureSwizzle g, TextureSwizzle b, TextureSwizzle a) {
    return TextureSwizzleChannels(r, g, b, a);
  }

  TextureSwizzle red;
  TextureSwizzle green;
  TextureSwizzle blue;
  TextureSwizzle alpha;
};

class _MTL_EXPORT SharedTextureHandle : public NS::SecureCoding<SharedTextureHandle> {
 public:
  static SharedTextureHandle* alloc();
  SharedTextureHandle* init();

  Device* device() const;
  NS::String* label() const;
};

class _MTL_EXPORT TextureDescriptor : public NS::Copying<TextureDescriptor> {
 public:
  static TextureDescriptor* texture2DDescriptor(PixelFormat pixelFormat, NS::UInteger width, NS::UInteger height,
                                                bool mipmapped);
  static TextureDescriptor* textureBufferDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                    ResourceOptions resourceOptions, TextureUsage usage);
  static TextureDescriptor* textureCubeDescriptor(PixelFormat pixelFormat, NS::UInteger size, bool mipmapped);

  static TextureDescriptor* alloc();
  TextureDescriptor* init();

  bool allowGPUOptimizedContents() const;
  void setAllowGPUOptimizedContents(bool allowGPUOptimizedContents);
  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger arrayLength);
  TextureCompressionType compressionType() const;
  void setCompressionType(TextureCompressionType compressionType);
  CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(CPUCacheMode cpuCacheMode);
  NS::UInteger depth() const;
  void setDepth(NS::UInteger depth);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode hazardTrackingMode);
  NS::UInteger height() const;
  void setHeight(NS::UInteger height);
  NS::UInteger mipmapLevelCount() const;
  void setMipmapLevelCount(NS::UInteger mipmapLevelCount);
  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat pixelFormat);
  SparsePageSize placementSparsePageSize() const;
  void setPlacementSparsePageSize(SparsePageSize placementSparsePageSize);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions resourceOptions);
  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger sampleCount);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode storageMode);
  TextureSwizzleChannels swizzle() const;
  void setSwizzle(TextureSwizzleChannels swizzle);
  TextureType textureType() const;
  void setTextureType(TextureType textureType);
  TextureUsage usage() const;
  void setUsage(TextureUsage usage);
  NS::UInteger width() const;
  void setWidth(NS::UInteger width);
};

class _MTL_EXPORT TextureViewDescriptor : public NS::Copying<TextureViewDescriptor> {
 public:
  static TextureViewDescriptor* alloc();
  TextureViewDescriptor* init();

  NS::Range levelRange() const;
  void setLevelRange(NS::Range levelRange);
  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat pixelFormat);
  NS::Range sliceRange() const;
  void setSliceRange(NS::Range sliceRange);
  TextureSwizzleChannels swizzle() const;
  void setSwizzle(TextureSwizzleChannels swizzle);
  TextureType textureType() const;
  void setTextureType(TextureType textureType);
};

class _MTL_EXPORT Texture : public NS::Referencing<Texture, Resource> {
 public:
  bool allowGPUOptimizedContents() const;
  NS::UInteger arrayLength() const;
  Buffer* buffer() const;
  NS::UInteger bufferBytesPerRow() const;
  NS::UInteger bufferOffset() const;
  TextureCompressionType compressionType() const;
  NS::UInteger depth() const;
  NS::UInteger firstMipmapInTail() const;
  ResourceID gpuResourceID() const;
  NS::UInteger height() const;
  IOSurfaceRef iosurface() const;
  NS::UInteger iosurfacePlane() const;
  bool isFramebufferOnly() const;
  bool isShareable() const;
  bool isSparse() const;
  NS::UInteger mipmapLevelCount() const;
  NS::UInteger parentRelativeLevel() const;
  NS::UInteger parentRelativeSlice() const;
  Texture* parentTexture() const;
  PixelFormat pixelFormat() const;
  Texture* remoteStorageTexture() const;
  Resource* rootResource() const;
  NS::UInteger sampleCount() const;
  TextureSparseTier sparseTextureTier() const;
  TextureSwizzleChannels swizzle() const;
  NS::UInteger tailSizeInBytes() const;
  TextureType textureType() const;
  TextureUsage usage() const;
  NS::UInteger width() const;

  Texture* newRemoteTextureViewForDevice(const Device* device);
  SharedTextureHandle* newSharedTextureHandle();
  Texture* newTextureView(PixelFormat pixelFormat);
  Texture* newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange, NS::Range sliceRange);
  Texture* newTextureView(const TextureViewDescriptor* descriptor);
  Texture* newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange, NS::Range sliceRange,
                          TextureSwizzleChannels swizzle);

  void getBytes(void* pixelBytes, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage, Region region,
                NS::UInteger level, NS::UInteger slice);
  void getBytes(void* pixelBytes, NS::UInteger bytesPerRow, Region region, NS::UInteger level);
  void replaceRegion(Region region, NS::UInteger level, NS::UInteger slice, const void* pixelBytes,
                     NS::UInteger bytesPerRow, NS::UInteger bytesPerImage);
  void replaceRegion(Region region, NS::UInteger level, const void* pixelBytes, NS::UInteger bytesPerRow);

  [[deprecated("use isFramebufferOnly()")]] bool framebufferOnly() const { return isFramebufferOnly(); }
  [[deprecated("use isShareable()")]] bool shareable() const { return isShareable(); }
};

}  // namespace MTL
