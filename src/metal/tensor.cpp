// Descriptors of tensors. The tensors themselves are not there.
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLTensor.hpp>
#include <vector>

#include "foundation/error.hpp"
#include "foundation/string.hpp"
#include "metal/absent.hpp"
#include "metal/heap.hpp"

namespace metalloid::metal {

class TensorExtentsObject final : public MTL::TensorExtents {
 public:
  std::vector<NS::Integer> values;

  const char* className() const override { return "MTLTensorExtents"; }
};

static const TensorExtentsObject* body(const MTL::TensorExtents* extents) {
  return static_cast<const TensorExtentsObject*>(extents);
}

struct TensorProperties {
  static constexpr const char* class_name = "MTLTensorDescriptor";
  MTL::CPUCacheMode cpuCacheMode = MTL::CPUCacheModeDefaultCache;
  MTL::TensorDataType dataType = MTL::TensorDataTypeFloat32;
  NS::SharedPtr<MTL::TensorExtents> dimensions;
  MTL::HazardTrackingMode hazardTrackingMode = MTL::HazardTrackingModeDefault;
  MTL::StorageMode storageMode = MTL::StorageModeShared;
  NS::SharedPtr<MTL::TensorExtents> strides;
  MTL::TensorUsage usage = MTL::TensorUsageCompute;

  ResourceModes modes() const { return {storageMode, cpuCacheMode, hazardTrackingMode}; }
};
PROPERTIES(TensorDescriptor, TensorProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

STRING_CONSTANT(TensorDomain, "MTLTensorDomain")

TensorExtents* TensorExtents::alloc() {
  return new TensorExtentsObject;
}

TensorExtents* TensorExtents::init() {
  return this;
}

TensorExtents* TensorExtents::init(NS::UInteger rank, const NS::Integer* values) {
  constexpr NS::UInteger most_dimensions = 16;
  if (rank > most_dimensions || (rank != 0 && !values)) return metalloid::foundation::failed_init(this);
  if (auto* self = static_cast<TensorExtentsObject*>(this)) self->values.assign(values, values + rank);
  return this;
}

NS::UInteger TensorExtents::rank() const {
  const TensorExtentsObject* self = body(this);
  return self ? self->values.size() : 0;
}

NS::Integer TensorExtents::extentAtDimensionIndex(NS::UInteger index) {
  const TensorExtentsObject* self = body(this);
  if (!self) return 0;
  return index < self->values.size() ? self->values[index] : -1;
}

ALLOC(TensorDescriptor)
PROPERTY(TensorDescriptor, cpuCacheMode, setCpuCacheMode)
PROPERTY(TensorDescriptor, dataType, setDataType)
PROPERTY(TensorDescriptor, dimensions, setDimensions)
PROPERTY(TensorDescriptor, hazardTrackingMode, setHazardTrackingMode)
PROPERTY(TensorDescriptor, storageMode, setStorageMode)
PROPERTY(TensorDescriptor, strides, setStrides)
PROPERTY(TensorDescriptor, usage, setUsage)

ResourceOptions TensorDescriptor::resourceOptions() const {
  const auto* self = properties(this);
  return self ? self->modes().options() : ResourceOptions{};
}

void TensorDescriptor::setResourceOptions(ResourceOptions options) {
  auto* self = properties(this);
  if (!self) return;
  const ResourceModes modes = ResourceModes::from(options);
  self->storageMode = modes.storage;
  self->cpuCacheMode = modes.cpu_cache;
  self->hazardTrackingMode = modes.hazard_tracking;
}

Tensor* Device::newTensor(const TensorDescriptor*, NS::Error** error) {
  metalloid::foundation::set_error(error, TensorDomain, TensorErrorInvalidDescriptor, refuse("tensors"));
  return nullptr;
}

SizeAndAlign Device::tensorSizeAndAlign(const TensorDescriptor*) {
  refuse("tensors");
  return {};
}

NEVER_SENT(Buffer* Tensor::buffer() const)
NEVER_SENT(NS::UInteger Tensor::bufferOffset() const)
NEVER_SENT(TensorDataType Tensor::dataType() const)
NEVER_SENT(TensorExtents* Tensor::dimensions() const)
NEVER_SENT(ResourceID Tensor::gpuResourceID() const)
NEVER_SENT(TensorExtents* Tensor::strides() const)
NEVER_SENT(TensorUsage Tensor::usage() const)
void Tensor::getBytes(void*, const TensorExtents*, const TensorExtents*, const TensorExtents*) {}
void Tensor::replaceSliceOrigin(const TensorExtents*, const TensorExtents*, const void*, const TensorExtents*) {}

}  // namespace MTL
