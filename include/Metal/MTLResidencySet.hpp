// Allocations that are made resident together, for a command buffer or for all of a queue.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Allocation;
class Device;

class _MTL_EXPORT ResidencySetDescriptor : public NS::Copying<ResidencySetDescriptor> {
 public:
  static ResidencySetDescriptor* alloc();
  ResidencySetDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger initialCapacity() const;
  void setInitialCapacity(NS::UInteger initialCapacity);
};

class _MTL_EXPORT ResidencySet : public NS::Referencing<ResidencySet> {
 public:
  Device* device() const;
  NS::String* label() const;
  NS::Array* allAllocations() const;
  uint64_t allocatedSize() const;
  NS::UInteger allocationCount() const;

  void addAllocation(const Allocation* allocation);
  void addAllocations(const Allocation* const allocations[], NS::UInteger count);
  bool containsAllocation(const Allocation* anAllocation);
  void endResidency();
  void removeAllAllocations();
  void removeAllocation(const Allocation* allocation);
  void removeAllocations(const Allocation* const allocations[], NS::UInteger count);
  void requestResidency();

  void commit();
};

}  // namespace MTL
