// The object behind MTL::Device: one for each device, for the life of the process. Methods that make something are
// defined beside what they make (newBuffer in buffer.cpp, newLibrary in library.cpp).
#pragma once

#include <Metal/MTLDevice.hpp>
#include <atomic>
#include <memory>

#include "device/device.hpp"
#include "foundation/object.hpp"

namespace metalloid::metal {

class DeviceObject final : public MTL::Device {
 public:
  explicit DeviceObject(std::shared_ptr<device::Device> device);

  const std::shared_ptr<device::Device> device;
  const NS::SharedPtr<NS::String> device_name;
  const NS::SharedPtr<MTL::Architecture> device_architecture;
  std::atomic<size_t> allocated_bytes = 0;  // by all resources that live
  std::atomic<bool> maximize_concurrent_compilation = false;

  const device::Info& info() const { return device->info(); }
  const char* className() const override { return "MTLDevice"; }
};

inline DeviceObject* body(MTL::Device* device) {
  return static_cast<DeviceObject*>(device);
}
inline const DeviceObject* body(const MTL::Device* device) {
  return static_cast<const DeviceObject*>(device);
}

// MTL_SHADER_VALIDATION=1: every pipeline is made with shader validation unless its descriptor says no.
bool shader_validation_enabled();

}  // namespace metalloid::metal
