// The object behind MTL::Buffer.
#pragma once

#include <Metal/MTLBuffer.hpp>
#include <cstdint>

#include "metal/resource.hpp"

namespace metalloid::metal {

class BufferObject final : public MTL::Buffer, public ResourcePart {
 public:
  using ResourcePart::device, ResourcePart::label;
  const size_t length;
  const uint64_t address;  // where kernels see it
  uint8_t* const host;     // where the host sees it; null in private storage

  BufferObject(DeviceObject* device, ResourceModes modes, Placement placement, size_t length);
  ~BufferObject() override;

  void label_changed() override;
  const char* className() const override { return "MTLBuffer"; }

 private:
  const bool registered_;  // among the allocations that shader validation knows
};

inline BufferObject* body(MTL::Buffer* buffer) {
  return static_cast<BufferObject*>(buffer);
}
inline const BufferObject* body(const MTL::Buffer* buffer) {
  return static_cast<const BufferObject*>(buffer);
}

}  // namespace metalloid::metal
