// What buffers, textures and the like share: where their memory is, who may touch it, and how hazards are tracked.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLAllocation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;
class Heap;

_MTL_ENUM(NS::UInteger, PurgeableState){
    PurgeableStateKeepCurrent = 1,
    PurgeableStateNonVolatile = 2,
    PurgeableStateVolatile = 3,
    PurgeableStateEmpty = 4,
};

_MTL_ENUM(NS::UInteger, CPUCacheMode){
    CPUCacheModeDefaultCache = 0,
    CPUCacheModeWriteCombined = 1,
};

_MTL_ENUM(NS::UInteger, StorageMode){
    StorageModeShared = 0,
    StorageModeManaged = 1,
    StorageModePrivate = 2,
    StorageModeMemoryless = 3,
};

_MTL_ENUM(NS::UInteger, HazardTrackingMode){
    HazardTrackingModeDefault = 0,
    HazardTrackingModeUntracked = 1,
    HazardTrackingModeTracked = 2,
};

_MTL_ENUM(NS::Integer, SparsePageSize){
    SparsePageSize16 = 101,
    SparsePageSize64 = 102,
    SparsePageSize256 = 103,
};

_MTL_ENUM(NS::Integer, BufferSparseTier){
    BufferSparseTierNone = 0,
    BufferSparseTier1 = 1,
};

_MTL_ENUM(NS::Integer, TextureSparseTier){
    TextureSparseTierNone = 0,
    TextureSparseTier1 = 1,
    TextureSparseTier2 = 2,
};

_MTL_OPTIONS(NS::UInteger, ResourceOptions){
    ResourceCPUCacheModeDefaultCache = 0,
    ResourceCPUCacheModeWriteCombined = 1,
    ResourceStorageModeShared = 0,
    ResourceStorageModeManaged = 1 << 4,
    ResourceStorageModePrivate = 1 << 5,
    ResourceStorageModeMemoryless = 3 << 4,
    ResourceHazardTrackingModeDefault = 0,
    ResourceHazardTrackingModeUntracked = 1 << 8,
    ResourceHazardTrackingModeTracked = 1 << 9,
    ResourceOptionCPUCacheModeDefault = 0,
    ResourceOptionCPUCacheModeWriteCombined = 1,
};

class _MTL_EXPORT Resource : public NS::Referencing<Resource, Allocation> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  NS::UInteger allocatedSize() const;
  CPUCacheMode cpuCacheMode() const;
  HazardTrackingMode hazardTrackingMode() const;
  Heap* heap() const;
  NS::UInteger heapOffset() const;
  ResourceOptions resourceOptions() const;
  StorageMode storageMode() const;

  kern_return_t setOwner(task_id_token_t task_id_token);
  PurgeableState setPurgeableState(PurgeableState state);

  bool isAliasable();
  void makeAliasable();
};

}  // namespace MTL
