#include "metal/heap.hpp"

#include <fmt/format.h>

#include <Metal/MTLDevice.hpp>
#include <algorithm>
#include <iterator>

#include "metal/align.hpp"
#include "metal/device.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

namespace {

// Hazards of a heap are tracked only if the program says so.
ResourceModes heap_modes(ResourceModes modes) {
  if (modes.hazard_tracking == MTL::HazardTrackingModeDefault) modes.hazard_tracking = MTL::HazardTrackingModeUntracked;
  return modes;
}

std::string check(const HeapProperties& asked) {
  if (asked.size == 0) return "the heap's size is 0";
  if (asked.type == MTL::HeapTypeSparse) return "sparse heaps are not supported";
  if (asked.type != MTL::HeapTypeAutomatic && asked.type != MTL::HeapTypePlacement) return "the heap's type is unknown";
  if (asked.storageMode != MTL::StorageModeShared && asked.storageMode != MTL::StorageModePrivate)
    return "a heap's storage mode must be MTLStorageModeShared or MTLStorageModePrivate";
  return "";
}

}  // namespace

std::optional<uint64_t> FreeSpace::take(uint64_t size) {
  const auto part = std::ranges::find_if(parts_, [size](const auto& part) { return part.second >= size; });
  if (part == parts_.end()) return std::nullopt;
  const auto [offset, length] = *part;
  parts_.erase(part);
  if (length > size) parts_.emplace(offset + size, length - size);
  return offset;
}

void FreeSpace::give_back(uint64_t offset, uint64_t size) {
  auto next = parts_.lower_bound(offset);
  if (next != parts_.end() && next->first == offset + size) {
    size += next->second;
    next = parts_.erase(next);
  }
  if (next != parts_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      previous->second += size;
      return;
    }
  }
  parts_.emplace(offset, size);
}

uint64_t FreeSpace::largest(uint64_t alignment) const {
  uint64_t largest = 0;
  for (const auto& [offset, size] : parts_) {
    const uint64_t lost = align(offset, alignment) - offset;
    if (size > lost) largest = std::max(largest, size - lost);
  }
  return largest;
}

HeapObject::HeapObject(DeviceObject* device, const HeapProperties& asked, std::shared_ptr<device::Memory> memory)
    : device(device),
      modes(heap_modes(asked.modes())),
      type(asked.type),
      size(align(asked.size, heap_alignment)),
      memory(std::move(memory)),
      free_(size) {}

Result<Placement> HeapObject::place(uint64_t bytes, ResourceModes asked, std::optional<uint64_t> offset) {
  if (asked.storage != modes.storage || asked.cpu_cache != modes.cpu_cache)
    return Error{"a resource in a heap must have the heap's storage mode and CPU cache mode"};
  if (asked.hazard_tracking != MTL::HazardTrackingModeDefault && asked.hazard_tracking != modes.hazard_tracking)
    return Error{"a resource in a heap must have the heap's hazard tracking mode"};
  if (bytes == 0 || bytes > size) return Error{fmt::format("{} bytes do not fit into a heap of {}", bytes, size)};
  if (offset.has_value() != (type == MTL::HeapTypePlacement))
    return Error{offset ? "an automatic heap finds the offset itself" : "a placement heap must be told the offset"};
  const uint64_t taken = align(bytes, heap_alignment);
  std::lock_guard lock(mutex_);
  if (!offset) {
    offset = free_.take(taken);
    if (!offset) return Error{fmt::format("the heap has no {} bytes in one piece; {} are used", taken, used_)};
  } else if (*offset % heap_alignment != 0 || *offset > size - taken) {
    return Error{fmt::format("offset {} must be a multiple of {} and leave {} bytes in a heap of {}", *offset,
                             heap_alignment, taken, size)};
  }
  used_ += taken;
  return Placement{memory, *offset, taken, NS::RetainPtr<MTL::Heap>(this)};
}

void HeapObject::give_back(const Placement& placement) {
  std::lock_guard lock(mutex_);
  used_ -= placement.size;
  if (type == MTL::HeapTypeAutomatic) free_.give_back(placement.offset, placement.size);
}

uint64_t HeapObject::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

uint64_t HeapObject::largest_free(uint64_t alignment) const {
  std::lock_guard lock(mutex_);
  return free_.largest(std::max<uint64_t>(alignment, 1));
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(HeapDescriptor)
PROPERTY(HeapDescriptor, size, setSize)
PROPERTY(HeapDescriptor, type, setType)
PROPERTY(HeapDescriptor, storageMode, setStorageMode)
PROPERTY(HeapDescriptor, cpuCacheMode, setCpuCacheMode)
PROPERTY(HeapDescriptor, hazardTrackingMode, setHazardTrackingMode)
PROPERTY(HeapDescriptor, sparsePageSize, setSparsePageSize)
PROPERTY(HeapDescriptor, maxCompatiblePlacementSparsePageSize, setMaxCompatiblePlacementSparsePageSize)

ResourceOptions HeapDescriptor::resourceOptions() const {
  const HeapProperties* self = properties(this);
  return self ? self->modes().options() : ResourceOptions{};
}

void HeapDescriptor::setResourceOptions(ResourceOptions options) {
  HeapProperties* self = properties(this);
  if (!self) return;
  const ResourceModes modes = ResourceModes::from(options);
  self->storageMode = modes.storage;
  self->cpuCacheMode = modes.cpu_cache;
  self->hazardTrackingMode = modes.hazard_tracking;
}

Heap* Device::newHeap(const HeapDescriptor* descriptor) {
  DeviceObject* self = body(this);
  if (!self || !descriptor) return nullptr;
  const HeapProperties& asked = *properties(descriptor);
  if (const std::string wrong = check(asked); !wrong.empty()) {
    report_misuse(nullptr, wrong);
    return nullptr;
  }
  if (asked.size > self->info().max_buffer_length) return nullptr;
  auto memory =
      allocate_memory(*self, align(asked.size, heap_alignment), asked.storageMode, asked.cpuCacheMode);
  return memory ? new HeapObject(self, asked, std::move(memory)) : nullptr;
}

SizeAndAlign Device::heapBufferSizeAndAlign(NS::UInteger length, ResourceOptions) {
  return {align(length, heap_alignment), heap_alignment};
}

Device* Heap::device() const {
  const HeapObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* Heap::label() const {
  const HeapObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void Heap::setLabel(const NS::String* label) {
  if (HeapObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

HeapType Heap::type() const {
  const HeapObject* self = body(this);
  return self ? self->type : HeapType{};
}

StorageMode Heap::storageMode() const {
  const HeapObject* self = body(this);
  return self ? self->modes.storage : StorageMode{};
}

CPUCacheMode Heap::cpuCacheMode() const {
  const HeapObject* self = body(this);
  return self ? self->modes.cpu_cache : CPUCacheMode{};
}

HazardTrackingMode Heap::hazardTrackingMode() const {
  const HeapObject* self = body(this);
  return self ? self->modes.hazard_tracking : HazardTrackingMode{};
}

ResourceOptions Heap::resourceOptions() const {
  const HeapObject* self = body(this);
  return self ? self->modes.options() : ResourceOptions{};
}

NS::UInteger Heap::size() const {
  const HeapObject* self = body(this);
  return self ? self->size : 0;
}

NS::UInteger Heap::usedSize() const {
  const HeapObject* self = body(this);
  return self ? self->used() : 0;
}

NS::UInteger Heap::currentAllocatedSize() const {
  const HeapObject* self = body(this);
  return self ? self->memory->size : 0;
}

NS::UInteger Heap::maxAvailableSize(NS::UInteger alignment) {
  const HeapObject* self = body(this);
  return self ? self->largest_free(alignment) : 0;
}

PurgeableState Heap::setPurgeableState(PurgeableState state) {
  HeapObject* self = body(this);
  return self ? set_purgeable_state(self->purgeable_state, state, self->memory.get()) : PurgeableState{};
}

}  // namespace MTL
