// Views of resources side by side, addressed by index.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

class _MTL_EXPORT ResourceViewPoolDescriptor : public NS::Copying<ResourceViewPoolDescriptor> {
 public:
  static ResourceViewPoolDescriptor* alloc();
  ResourceViewPoolDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger resourceViewCount() const;
  void setResourceViewCount(NS::UInteger resourceViewCount);
};

class _MTL_EXPORT ResourceViewPool : public NS::Referencing<ResourceViewPool> {
 public:
  Device* device() const;
  NS::String* label() const;
  ResourceID baseResourceID() const;
  NS::UInteger resourceViewCount() const;
  ResourceID copyResourceViewsFromPool(const ResourceViewPool* sourcePool, NS::Range sourceRange,
                                       NS::UInteger destinationIndex);
};

}  // namespace MTL
