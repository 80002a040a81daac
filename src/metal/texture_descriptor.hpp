// What a program asks for when it makes a texture.
#pragma once

#include <Metal/MTLPixelFormat.hpp>
#include <Metal/MTLTexture.hpp>

#include "metal/property.hpp"
#include "metal/resource.hpp"

namespace metalloid::metal {

struct TextureProperties {
  static constexpr const char* class_name = "MTLTextureDescriptor";
  MTL::TextureType textureType = MTL::TextureType2D;
  MTL::PixelFormat pixelFormat = MTL::PixelFormatRGBA8Unorm;
  NS::UInteger width = 1, height = 1, depth = 1;
  NS::UInteger mipmapLevelCount = 1, sampleCount = 1, arrayLength = 1;
  MTL::StorageMode storageMode = MTL::StorageModeShared;
  MTL::CPUCacheMode cpuCacheMode = MTL::CPUCacheModeDefaultCache;
  MTL::HazardTrackingMode hazardTrackingMode = MTL::HazardTrackingModeDefault;
  MTL::TextureUsage usage = MTL::TextureUsageShaderRead;
  bool allowGPUOptimizedContents = true;
  MTL::TextureCompressionType compressionType = MTL::TextureCompressionTypeLossless;
  MTL::TextureSwizzleChannels swizzle;
  MTL::SparsePageSize placementSparsePageSize = MTL::SparsePageSize(0);

  ResourceModes modes() const { return {storageMode, cpuCacheMode, hazardTrackingMode}; }
};
PROPERTIES(TextureDescriptor, TextureProperties)

struct TextureViewProperties {
  static constexpr const char* class_name = "MTLTextureViewDescriptor";
  MTL::TextureType textureType = MTL::TextureType2D;
  MTL::PixelFormat pixelFormat = MTL::PixelFormatInvalid;
  NS::Range levelRange = NS::Range::Make(0, 1);
  NS::Range sliceRange = NS::Range::Make(0, 1);
  MTL::TextureSwizzleChannels swizzle;
};
PROPERTIES(TextureViewDescriptor, TextureViewProperties)

}  // namespace metalloid::metal
