// Views of textures side by side, addressed by index.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResourceViewPool.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class Texture;
class TextureDescriptor;
class TextureViewDescriptor;

class _MTL_EXPORT TextureViewPool : public NS::Referencing<TextureViewPool, ResourceViewPool> {
 public:
  ResourceID setTextureView(const Texture* texture, NS::UInteger index);
  ResourceID setTextureView(const Texture* texture, const TextureViewDescriptor* descriptor, NS::UInteger index);
  ResourceID setTextureViewFromBuffer(const Buffer* buffer, const TextureDescriptor* descriptor, NS::UInteger offset,
                                      NS::UInteger bytesPerRow, NS::UInteger index);
};

}  // namespace MTL
