// The object behind MTL::SamplerState. Its handle is its whole state (device/sampler.hpp), so it needs no memory of the
// device.
#pragma once

#include <Metal/MTLSampler.hpp>
#include <cstdint>

#include "foundation/object.hpp"

namespace metalloid::metal {

class DeviceObject;

class SamplerStateObject final : public MTL::SamplerState {
 public:
  DeviceObject* const device;
  const uint64_t handle;  // what kernels and argument buffers hold
  const NS::SharedPtr<NS::String> label;

  SamplerStateObject(DeviceObject* device, uint64_t handle, NS::SharedPtr<NS::String> label)
      : device(device), handle(handle), label(std::move(label)) {}

  const char* className() const override { return "MTLSamplerState"; }
};

inline const SamplerStateObject* body(const MTL::SamplerState* sampler) {
  return static_cast<const SamplerStateObject*>(sampler);
}

}  // namespace metalloid::metal
