// Commands that map and unmap the tiles of sparse textures.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class Fence;
class Texture;

_MTL_ENUM(NS::UInteger, SparseTextureMappingMode){
    SparseTextureMappingModeMap = 0,
    SparseTextureMappingModeUnmap = 1,
};

struct MapIndirectArguments {
  uint32_t regionOriginX;
  uint32_t regionOriginY;
  uint32_t regionOriginZ;
  uint32_t regionSizeWidth;
  uint32_t regionSizeHeight;
  uint32_t regionSizeDepth;
  uint32_t mipMapLevel;
  uint32_t sliceId;
};

class _MTL_EXPORT ResourceStateCommandEncoder : public NS::Referencing<ResourceStateCommandEncoder, CommandEncoder> {
 public:
  void waitForFence(const Fence* fence);
  void updateFence(const Fence* fence);
  void moveTextureMappingsFromTexture(const Texture* sourceTexture, NS::UInteger sourceSlice, NS::UInteger sourceLevel,
                                      Origin sourceOrigin, Size sourceSize, const Texture* destinationTexture,
                                      NS::UInteger destinationSlice, NS::UInteger destinationLevel,
                                      Origin destinationOrigin);
  void updateTextureMapping(const Texture* texture, const SparseTextureMappingMode mode, const Region region,
                            const NS::UInteger mipLevel, const NS::UInteger slice);
  void updateTextureMapping(const Texture* texture, const SparseTextureMappingMode mode, const Buffer* indirectBuffer,
                            NS::UInteger indirectBufferOffset);
  void updateTextureMappings(const Texture* texture, const SparseTextureMappingMode mode, const Region* regions,
                             const NS::UInteger* mipLevels, const NS::UInteger* slices, NS::UInteger numRegions);
};

}  // namespace MTL
