// The object behind MTL::Heap: one piece of memory that many resources share. In an automatic heap it finds the places
// itself; in a placement heap the program does.
#pragma once

#include <Metal/MTLHeap.hpp>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "metal/property.hpp"
#include "metal/resource.hpp"

namespace metalloid::metal {

struct HeapProperties {
  static constexpr const char* class_name = "MTLHeapDescriptor";
  NS::UInteger size = 0;
  MTL::HeapType type = MTL::HeapTypeAutomatic;
  MTL::StorageMode storageMode = MTL::StorageModePrivate;
  MTL::CPUCacheMode cpuCacheMode = MTL::CPUCacheModeDefaultCache;
  MTL::HazardTrackingMode hazardTrackingMode = MTL::HazardTrackingModeDefault;
  MTL::SparsePageSize sparsePageSize = MTL::SparsePageSize16;
  MTL::SparsePageSize maxCompatiblePlacementSparsePageSize = MTL::SparsePageSize(0);

  ResourceModes modes() const { return {storageMode, cpuCacheMode, hazardTrackingMode}; }
};
PROPERTIES(HeapDescriptor, HeapProperties)

constexpr uint64_t heap_alignment = 256;

// The parts of a heap that nobody uses. Takes the first that is large enough; neighbours grow together again.
class FreeSpace {
 public:
  explicit FreeSpace(uint64_t size) : parts_{{0, size}} {}

  std::optional<uint64_t> take(uint64_t size);
  void give_back(uint64_t offset, uint64_t size);
  uint64_t largest(uint64_t alignment) const;

 private:
  std::map<uint64_t, uint64_t> parts_;  // size by offset
};

class HeapObject final : public MTL::Heap {
 public:
  DeviceObject* const device;
  const ResourceModes modes;
  const MTL::HeapType type;
  const uint64_t size;
  const std::shared_ptr<device::Memory> memory;
  NS::SharedPtr<NS::String> label;
  MTL::PurgeableState purgeable_state = MTL::PurgeableStateNonVolatile;

  HeapObject(DeviceObject* device, const HeapProperties& asked, std::shared_ptr<device::Memory> memory);

  // A place for a resource: one that is free, or the one at the given offset of a placement heap. An error says why
  // there is none.
  Result<Placement> place(uint64_t bytes, ResourceModes modes, std::optional<uint64_t> offset);
  void give_back(const Placement& placement);

  uint64_t used() const;
  uint64_t largest_free(uint64_t alignment) const;

  const char* className() const override { return "MTLHeap"; }

 private:
  mutable std::mutex mutex_;
  FreeSpace free_;
  uint64_t used_ = 0;
};

inline HeapObject* body(MTL::Heap* heap) {
  return static_cast<HeapObject*>(heap);
}
inline const HeapObject* body(const MTL::Heap* heap) {
  return static_cast<const HeapObject*>(heap);
}

}  // namespace metalloid::metal
