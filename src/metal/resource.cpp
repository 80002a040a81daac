#include "metal/resource.hpp"

#include <utility>

#include "metal/device.hpp"
#include "metal/heap.hpp"
#include "metal/misuse.hpp"
#include "metal/small_memory.hpp"

namespace metalloid::metal {

namespace {

constexpr unsigned storage_shift = 4, hazard_shift = 8;

constexpr kern_return_t not_supported = 46;  // KERN_NOT_SUPPORTED

ResourceModes resolve_hazards(ResourceModes modes, const MTL::Heap* heap) {
  if (modes.hazard_tracking == MTL::HazardTrackingModeDefault)
    modes.hazard_tracking = heap ? heap->hazardTrackingMode() : MTL::HazardTrackingModeTracked;
  return modes;
}

// Takes the memory out of the device's count, and tells the program, when its last user lets it go.
std::shared_ptr<device::Memory> counted(DeviceObject& device, Result<std::unique_ptr<device::Memory>> made,
                                        std::function<void()> released) {
  if (!made) return nullptr;
  device.allocated_bytes += (*made)->size;
  return {(*std::move(made)).release(), [&device, released = std::move(released)](device::Memory* memory) {
            device.allocated_bytes -= memory->size;
            delete memory;
            if (released) released();
          }};
}

}  // namespace

ResourceModes ResourceModes::from(MTL::ResourceOptions options) {
  return {static_cast<MTL::StorageMode>(options >> storage_shift & 0xf), static_cast<MTL::CPUCacheMode>(options & 0xf),
          static_cast<MTL::HazardTrackingMode>(options >> hazard_shift & 0x3)};
}

MTL::ResourceOptions ResourceModes::options() const {
  return static_cast<MTL::ResourceOptions>(cpu_cache | storage << storage_shift | hazard_tracking << hazard_shift);
}

// What the host only writes stays with it: it is read once by a GPU, most often.
static device::Storage place_of(MTL::StorageMode storage, MTL::CPUCacheMode cpu_cache) {
  if (storage == MTL::StorageModePrivate) return device::Storage::private_to_device;
  return cpu_cache == MTL::CPUCacheModeWriteCombined ? device::Storage::shared_on_host : device::Storage::shared;
}

std::shared_ptr<device::Memory> allocate_memory(DeviceObject& device, size_t bytes, MTL::StorageMode storage,
                                                MTL::CPUCacheMode cpu_cache) {
  const device::Storage where = place_of(storage, cpu_cache);
  const bool is_unified = device.info().unified_memory;
  const bool is_small = bytes <= (is_unified ? largest_small_memory : device::largest_memory_on_host) &&
                        (is_unified || where != device::Storage::private_to_device);
  // With shader validation every buffer has pages of its own: what is beyond its end is nobody's.
  if (is_small && !shader_validation_enabled())
    if (auto small = take_small_memory(*device.device, bytes, where)) return counted(device, std::move(small), nullptr);
  return counted(device, device.device->allocate(bytes, where), nullptr);
}

std::shared_ptr<device::Memory> adopt_memory(DeviceObject& device, void* host, size_t bytes,
                                             std::function<void()> released) {
  return counted(device, device.device->adopt(host, bytes), std::move(released));
}

MTL::PurgeableState set_purgeable_state(MTL::PurgeableState& state, MTL::PurgeableState asked, device::Memory* memory) {
  if (asked == MTL::PurgeableStateKeepCurrent) return state;
  if (asked == MTL::PurgeableStateEmpty && memory) memory->discard();
  return std::exchange(state, asked);
}

ResourcePart::ResourcePart(DeviceObject* device, ResourceModes modes, Placement placement)
    : device(device), modes(resolve_hazards(modes, placement.heap.get())), placement(std::move(placement)) {}

ResourcePart::~ResourcePart() {
  if (placement.heap && !placement.borrowed && !aliasable) body(placement.heap.get())->give_back(placement);
}

uint8_t* ResourcePart::first_host_byte() const {
  if (!modes.visible_to_host() || !placement.memory || !placement.memory->host) return nullptr;
  return static_cast<uint8_t*>(placement.memory->host) + placement.offset;
}

ResourcePart* resource_part(const MTL::Allocation* allocation) {
  return allocation ? dynamic_cast<ResourcePart*>(const_cast<MTL::Allocation*>(allocation)) : nullptr;
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

NS::UInteger Allocation::allocatedSize() const {
  if (const ResourcePart* self = resource_part(this)) return self->placement.size;
  const auto* heap = dynamic_cast<const HeapObject*>(this);
  return heap ? heap->memory->size : 0;
}

NS::UInteger Resource::allocatedSize() const {
  return Allocation::allocatedSize();
}

Device* Resource::device() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->device : nullptr;
}

NS::String* Resource::label() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->label.get() : nullptr;
}

void Resource::setLabel(const NS::String* label) {
  ResourcePart* self = resource_part(this);
  if (!self) return;
  self->label = NS::TransferPtr(label ? label->copy() : nullptr);
  self->label_changed();
}

CPUCacheMode Resource::cpuCacheMode() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->modes.cpu_cache : CPUCacheMode{};
}

StorageMode Resource::storageMode() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->modes.storage : StorageMode{};
}

HazardTrackingMode Resource::hazardTrackingMode() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->modes.hazard_tracking : HazardTrackingMode{};
}

ResourceOptions Resource::resourceOptions() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->modes.options() : ResourceOptions{};
}

Heap* Resource::heap() const {
  const ResourcePart* self = resource_part(this);
  return self ? self->placement.heap.get() : nullptr;
}

NS::UInteger Resource::heapOffset() const {
  const ResourcePart* self = resource_part(this);
  return self && self->placement.heap ? self->placement.offset : 0;
}

PurgeableState Resource::setPurgeableState(PurgeableState state) {
  ResourcePart* self = resource_part(this);
  if (!self) return PurgeableState{};
  if (self->placement.heap && state != PurgeableStateKeepCurrent) {
    report_misuse(nullptr, "a resource in a heap has the purgeable state of its heap");
    return self->purgeable_state;
  }
  return set_purgeable_state(self->purgeable_state, state, self->placement.memory.get());
}

bool Resource::isAliasable() {
  const ResourcePart* self = resource_part(this);
  return self && self->aliasable;
}

void Resource::makeAliasable() {
  ResourcePart* self = resource_part(this);
  if (!self || self->aliasable) return;
  if (!self->placement.heap || self->placement.borrowed)
    return report_misuse(nullptr, "only a resource that was made in a heap can become aliasable");
  self->aliasable = true;
  body(self->placement.heap.get())->give_back(self->placement);
}

kern_return_t Resource::setOwner(task_id_token_t) {
  return not_supported;
}

}  // namespace MTL
