// A piece of memory from which buffers and textures are made, placed by the heap or by the program.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"

namespace MTL {

class AccelerationStructure;
class AccelerationStructureDescriptor;
class Buffer;
class Device;
class Texture;
class TextureDescriptor;

_MTL_ENUM(NS::Integer, HeapType){
    HeapTypeAutomatic = 0,
    HeapTypePlacement = 1,
    HeapTypeSparse = 2,
};

class _MTL_EXPORT HeapDescriptor : public NS::Copying<HeapDescriptor> {
 public:
  static HeapDescriptor* alloc();
  HeapDescriptor* init();

  CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(CPUCacheMode cpuCacheMode);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode hazardTrackingMode);
  SparsePageSize maxCompatiblePlacementSparsePageSize() const;
  void setMaxCompatiblePlacementSparsePageSize(SparsePageSize maxCompatiblePlacementSparsePageSize);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions resourceOptions);
  NS::UInteger size() const;
  void setSize(NS::UInteger size);
  SparsePageSize sparsePageSize() const;
  void setSparsePageSize(SparsePageSize sparsePageSize);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode storageMode);
  HeapType type() const;
  void setType(HeapType type);
};

class _MTL_EXPORT Heap : public NS::Referencing<Heap, Allocation> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  CPUCacheMode cpuCacheMode() const;
  NS::UInteger currentAllocatedSize() const;
  HazardTrackingMode hazardTrackingMode() const;
  ResourceOptions resourceOptions() const;
  NS::UInteger size() const;
  StorageMode storageMode() const;
  HeapType type() const;
  NS::UInteger usedSize() const;

  AccelerationStructure* newAccelerationStructure(NS::UInteger size);
  AccelerationStructure* newAccelerationStructure(const AccelerationStructureDescriptor* descriptor);
  AccelerationStructure* newAccelerationStructure(NS::UInteger size, NS::UInteger offset);
  AccelerationStructure* newAccelerationStructure(const AccelerationStructureDescriptor* descriptor,
                                                  NS::UInteger offset);
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options, NS::UInteger offset);
  Texture* newTexture(const TextureDescriptor* descriptor);
  Texture* newTexture(const TextureDescriptor* descriptor, NS::UInteger offset);

  PurgeableState setPurgeableState(PurgeableState state);
  NS::UInteger maxAvailableSize(NS::UInteger alignment);
};

}  // namespace MTL
