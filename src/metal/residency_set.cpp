// Residency sets: what a program wants to be in the device's memory. Everything always is here, so a set only keeps
// account of its members; what it says is exact. Changes show at once but in allocatedSize, which changes with commit.
#include <Foundation/NSArray.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLResidencySet.hpp>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "metal/device.hpp"
#include "metal/misuse.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

struct ResidencySetProperties {
  static constexpr const char* class_name = "MTLResidencySetDescriptor";
  Copied<NS::String> label;
  NS::UInteger initialCapacity = 0;
};
PROPERTIES(ResidencySetDescriptor, ResidencySetProperties)

class ResidencySetObject final : public MTL::ResidencySet {
 public:
  DeviceObject* const device;
  const NS::SharedPtr<NS::String> label;
  std::mutex mutex;
  std::vector<NS::SharedPtr<MTL::Allocation>> members;
  std::unordered_map<const MTL::Allocation*, size_t> index_of;
  uint64_t size = 0, committed_size = 0;

  ResidencySetObject(DeviceObject* device, const ResidencySetProperties& asked)
      : device(device), label(asked.label.object) {
    constexpr NS::UInteger largest_reserve = 1 << 16;
    members.reserve(std::min(asked.initialCapacity, largest_reserve));
  }

  void add(const MTL::Allocation* allocation) {
    if (!allocation || !index_of.emplace(allocation, members.size()).second) return;
    members.push_back(foundation::retained(allocation));
    size += allocation->allocatedSize();
  }

  // The reference is the caller's, to let go when the lock is open: a deallocator of the program may run then.
  NS::SharedPtr<MTL::Allocation> take(const MTL::Allocation* allocation) {
    const auto found = index_of.find(allocation);
    if (found == index_of.end()) return {};
    size -= allocation->allocatedSize();
    index_of[members.back().get()] = found->second;
    std::swap(members[found->second], members.back());
    index_of.erase(found);
    auto taken = std::move(members.back());
    members.pop_back();
    return taken;
  }

  const char* className() const override { return "MTLResidencySet"; }
};

static ResidencySetObject* body(const MTL::ResidencySet* set) {
  return static_cast<ResidencySetObject*>(const_cast<MTL::ResidencySet*>(set));
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(ResidencySetDescriptor)
PROPERTY(ResidencySetDescriptor, label, setLabel)
PROPERTY(ResidencySetDescriptor, initialCapacity, setInitialCapacity)

ResidencySet* Device::newResidencySet(const ResidencySetDescriptor* descriptor, NS::Error** error) {
  if (error) *error = nullptr;
  DeviceObject* self = metalloid::metal::body(this);
  if (!self) return nullptr;
  return new ResidencySetObject(self, descriptor ? *properties(descriptor) : ResidencySetProperties());
}

Device* ResidencySet::device() const {
  const ResidencySetObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* ResidencySet::label() const {
  const ResidencySetObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void ResidencySet::addAllocation(const Allocation* allocation) {
  addAllocations(&allocation, 1);
}

void ResidencySet::addAllocations(const Allocation* const allocations[], NS::UInteger count) {
  ResidencySetObject* self = body(this);
  if (!self || !allocations) return;
  std::lock_guard lock(self->mutex);
  for (NS::UInteger i = 0; i < count; ++i) self->add(allocations[i]);
}

void ResidencySet::removeAllocation(const Allocation* allocation) {
  removeAllocations(&allocation, 1);
}

void ResidencySet::removeAllocations(const Allocation* const allocations[], NS::UInteger count) {
  ResidencySetObject* self = body(this);
  if (!self || !allocations) return;
  std::vector<NS::SharedPtr<Allocation>> taken;
  std::lock_guard lock(self->mutex);
  for (NS::UInteger i = 0; i < count; ++i) taken.push_back(self->take(allocations[i]));
}

void ResidencySet::removeAllAllocations() {
  ResidencySetObject* self = body(this);
  if (!self) return;
  std::vector<NS::SharedPtr<Allocation>> taken;
  std::lock_guard lock(self->mutex);
  taken.swap(self->members);
  self->index_of.clear();
  self->size = 0;
}

bool ResidencySet::containsAllocation(const Allocation* allocation) {
  ResidencySetObject* self = body(this);
  if (!self) return false;
  std::lock_guard lock(self->mutex);
  return self->index_of.contains(allocation);
}

NS::Array* ResidencySet::allAllocations() const {
  ResidencySetObject* self = body(this);
  if (!self) return nullptr;
  std::lock_guard lock(self->mutex);
  std::vector<const NS::Object*> objects;
  for (const auto& member : self->members) objects.push_back(member.get());
  return NS::Array::array(objects.data(), objects.size());
}

NS::UInteger ResidencySet::allocationCount() const {
  ResidencySetObject* self = body(this);
  if (!self) return 0;
  std::lock_guard lock(self->mutex);
  return self->members.size();
}

uint64_t ResidencySet::allocatedSize() const {
  ResidencySetObject* self = body(this);
  if (!self) return 0;
  std::lock_guard lock(self->mutex);
  return self->committed_size;
}

void ResidencySet::commit() {
  ResidencySetObject* self = body(this);
  if (!self) return;
  std::lock_guard lock(self->mutex);
  self->committed_size = self->size;
}

void ResidencySet::requestResidency() {}

void ResidencySet::endResidency() {}

}  // namespace MTL
