// What every resource has: a device, memory of that device, modes, and a label. Buffers and textures derive from it
// beside their interface; methods of MTL::Resource and MTL::Allocation find it with a dynamic_cast.
#pragma once

#include <Metal/MTLHeap.hpp>
#include <Metal/MTLResource.hpp>
#include <cstdint>
#include <functional>
#include <memory>

#include "device/device.hpp"
#include "foundation/object.hpp"

namespace metalloid::metal {

class DeviceObject;

// What the bits of MTL::ResourceOptions say.
struct ResourceModes {
  MTL::StorageMode storage = MTL::StorageModeShared;
  MTL::CPUCacheMode cpu_cache = MTL::CPUCacheModeDefaultCache;
  MTL::HazardTrackingMode hazard_tracking = MTL::HazardTrackingModeDefault;

  static ResourceModes from(MTL::ResourceOptions options);
  MTL::ResourceOptions options() const;
  bool visible_to_host() const { return storage == MTL::StorageModeShared || storage == MTL::StorageModeManaged; }
};

// Memory that counts in the device's currentAllocatedSize for as long as it lives; null if there is not enough. What
// was adopted is given back to the program through `released`.
std::shared_ptr<device::Memory> allocate_memory(DeviceObject& device, size_t bytes, MTL::StorageMode storage,
                                                MTL::CPUCacheMode cpu_cache = MTL::CPUCacheModeDefaultCache);
std::shared_ptr<device::Memory> adopt_memory(DeviceObject& device, void* host, size_t bytes,
                                             std::function<void()> released);

// The bytes of a resource: an allocation of its own, a part of a heap's, or a part of another resource's.
struct Placement {
  std::shared_ptr<device::Memory> memory;
  uint64_t offset = 0;  // in that memory
  uint64_t size = 0;
  NS::SharedPtr<MTL::Heap> heap = {};  // null outside of heaps
  bool borrowed = false;               // from another resource, which gives it back to the heap
};

// Changes a purgeable state and gives the old one. Memory that becomes empty loses its contents.
MTL::PurgeableState set_purgeable_state(MTL::PurgeableState& state, MTL::PurgeableState asked, device::Memory* memory);

class ResourcePart {
 public:
  DeviceObject* const device;
  const ResourceModes modes;
  const Placement placement;
  NS::SharedPtr<NS::String> label;
  MTL::PurgeableState purgeable_state = MTL::PurgeableStateNonVolatile;
  bool aliasable = false;  // its part of the heap may be given to others

  ResourcePart(const ResourcePart&) = delete;
  ResourcePart& operator=(const ResourcePart&) = delete;

  // Where kernels and, if the storage mode lets it, the host see the first byte.
  uint64_t first_address() const { return placement.memory->address + placement.offset; }
  uint8_t* first_host_byte() const;

  virtual void label_changed() {}

 protected:
  // An untold hazard tracking mode becomes the one of a resource on its own, tracked, or that of its heap.
  ResourcePart(DeviceObject* device, ResourceModes modes, Placement placement);
  virtual ~ResourcePart();
};

// Null for null.
ResourcePart* resource_part(const MTL::Allocation* allocation);

}  // namespace metalloid::metal
