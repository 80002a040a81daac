// The object behind MTL::Texture. What kernels see of it is a device::TextureDescription in memory of the device, whose
// address is the texture's handle; texels lie row after row (texture_layout.hpp).
#pragma once

#include <Metal/MTLTexture.hpp>
#include <Metal/MTLTypes.hpp>
#include <cstdint>
#include <metalloid/result.hpp>

#include "device/texture.hpp"
#include "metal/resource.hpp"

namespace metalloid::metal {

// The bytes of a region: `images` times `rows` runs of `row_bytes`.
struct TextureBytes {
  uint64_t address = 0;     // of the first texel, for kernels and copies
  uint8_t* host = nullptr;  // the same for the host; null in private storage
  uint64_t row_bytes = 0, rows = 0, images = 0;
  uint64_t row_stride = 0, image_stride = 0;
};

class TextureObject final : public MTL::Texture, public ResourcePart {
 public:
  using ResourcePart::device, ResourcePart::label;
  const uint64_t handle;  // what kernels and argument buffers hold
  const MTL::TextureUsage usage;
  NS::SharedPtr<MTL::Texture> parent;  // of a view
  NS::UInteger parent_level = 0, parent_slice = 0;
  NS::SharedPtr<MTL::Buffer> buffer;  // of a texture made from a buffer
  NS::UInteger buffer_offset = 0, buffer_bytes_per_row = 0;
  bool allow_gpu_optimized_contents = true;

  // `description` is memory that holds a device::TextureDescription.
  TextureObject(DeviceObject* device, ResourceModes modes, Placement placement,
                std::shared_ptr<device::Memory> description, MTL::TextureUsage usage);
  ~TextureObject() override;

  const device::TextureDescription& description() const {
    return *static_cast<const device::TextureDescription*>(description_->host);
  }

  // The size of a level in texels; at least one in each direction.
  MTL::Size level_size(NS::UInteger level) const;

  // The bytes of a region of one level and slice (a face of a cube is a slice; planes in depth are images); an error
  // that says what is out of bounds.
  Result<TextureBytes> bytes_of(MTL::Region region, NS::UInteger level, NS::UInteger slice) const;

  const char* className() const override { return "MTLTexture"; }

 private:
  std::shared_ptr<device::Memory> description_;
};

// A texture over memory of a buffer, with strides of its own: texels may be further apart than they are large. The
// caller sees to it that all of them are in the buffer; `texture.base` is set here. Null if there is no memory.
MTL::Texture* make_strided_texture(MTL::Buffer* buffer, uint64_t offset, device::TextureDescription texture,
                                   MTL::TextureUsage usage);

inline TextureObject* body(MTL::Texture* texture) {
  return static_cast<TextureObject*>(texture);
}
inline const TextureObject* body(const MTL::Texture* texture) {
  return static_cast<const TextureObject*>(texture);
}

}  // namespace metalloid::metal
