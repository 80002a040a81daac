// Arrays with more than one dimension, as memory or as a view of a buffer.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;

_MTL_ENUM(NS::Integer, TensorDataType){
    TensorDataTypeNone = 0,   TensorDataTypeFloat32 = 3, TensorDataTypeFloat16 = 16, TensorDataTypeBFloat16 = 121,
    TensorDataTypeInt8 = 45,  TensorDataTypeUInt8 = 49,  TensorDataTypeInt16 = 37,   TensorDataTypeUInt16 = 41,
    TensorDataTypeInt32 = 29, TensorDataTypeUInt32 = 33,
};

_MTL_ENUM(NS::Integer, TensorError){
    TensorErrorNone = 0,
    TensorErrorInternalError = 1,
    TensorErrorInvalidDescriptor = 2,
};

_MTL_OPTIONS(NS::UInteger, TensorUsage){
    TensorUsageCompute = 1,
    TensorUsageRender = 1 << 1,
    TensorUsageMachineLearning = 1 << 2,
};

_MTL_CONST(NS::ErrorDomain, TensorDomain);

class _MTL_EXPORT TensorExtents : public NS::Referencing<TensorExtents> {
 public:
  static TensorExtents* alloc();
  TensorExtents* init();
  TensorExtents* init(NS::UInteger rank, const NS::Integer* values);

  NS::UInteger rank() const;
  NS::Integer extentAtDimensionIndex(NS::UInteger dimensionIndex);
};

class _MTL_EXPORT TensorDescriptor : public NS::Copying<TensorDescriptor> {
 public:
  static TensorDescriptor* alloc();
  TensorDescriptor* init();

  CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(CPUCacheMode cpuCacheMode);
  TensorDataType dataType() const;
  void setDataType(TensorDataType dataType);
  TensorExtents* dimensions() const;
  void setDimensions(const TensorExtents* dimensions);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode hazardTrackingMode);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions resourceOptions);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode storageMode);
  TensorExtents* strides() const;
  void setStrides(const TensorExtents* strides);
  TensorUsage usage() const;
  void setUsage(TensorUsage usage);
};

class _MTL_EXPORT Tensor : public NS::Referencing<Tensor, Resource> {
 public:
  Buffer* buffer() const;
  NS::UInteger bufferOffset() const;
  TensorDataType dataType() const;
  TensorExtents* dimensions() const;
  ResourceID gpuResourceID() const;
  TensorExtents* strides() const;
  TensorUsage usage() const;

  void getBytes(void* bytes, const TensorExtents* strides, const TensorExtents* sliceOrigin,
                const TensorExtents* sliceDimensions);
  void replaceSliceOrigin(const TensorExtents* sliceOrigin, const TensorExtents* sliceDimensions, const void* bytes,
                          const TensorExtents* strides);
};

}  // namespace MTL
