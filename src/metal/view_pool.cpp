// Pools of texture views. Only their descriptor is there.
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLResourceViewPool.hpp>
#include <Metal/MTLTexture.hpp>
#include <Metal/MTLTextureViewPool.hpp>

#include "metal/absent.hpp"
#include "metal/errors.hpp"

namespace metalloid::metal {

struct ResourceViewPoolProperties {
  static constexpr const char* class_name = "MTLResourceViewPoolDescriptor";
  Copied<NS::String> label;
  NS::UInteger resourceViewCount = 0;
};
PROPERTIES(ResourceViewPoolDescriptor, ResourceViewPoolProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(ResourceViewPoolDescriptor)
PROPERTY(ResourceViewPoolDescriptor, label, setLabel)
PROPERTY(ResourceViewPoolDescriptor, resourceViewCount, setResourceViewCount)

TextureViewPool* Device::newTextureViewPool(const ResourceViewPoolDescriptor*, NS::Error** error) {
  report(error, library_error(LibraryErrorUnsupported, refuse("pools of texture views")));
  return nullptr;
}

NEVER_SENT(Device* ResourceViewPool::device() const)
NEVER_SENT(NS::String* ResourceViewPool::label() const)
NEVER_SENT(ResourceID ResourceViewPool::baseResourceID() const)
NEVER_SENT(NS::UInteger ResourceViewPool::resourceViewCount() const)
NEVER_SENT(ResourceID ResourceViewPool::copyResourceViewsFromPool(const ResourceViewPool*, NS::Range, NS::UInteger))

NEVER_SENT(ResourceID TextureViewPool::setTextureView(const Texture*, NS::UInteger))
NEVER_SENT(ResourceID TextureViewPool::setTextureView(const Texture*, const TextureViewDescriptor*, NS::UInteger))
NEVER_SENT(ResourceID TextureViewPool::setTextureViewFromBuffer(const Buffer*, const TextureDescriptor*, NS::UInteger,
                                                                NS::UInteger, NS::UInteger))

}  // namespace MTL
