// Fences order encoders of one queue. Commands of a queue are carried out one after the other, so a fence is but a name
// for an order that is there already.
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLFence.hpp>

#include "metal/device.hpp"

namespace metalloid::metal {
namespace {

class FenceObject final : public MTL::Fence {
 public:
  DeviceObject* const device;
  NS::SharedPtr<NS::String> label;

  explicit FenceObject(DeviceObject* device) : device(device) {}

  const char* className() const override { return "MTLFence"; }
};

FenceObject* body(MTL::Fence* fence) {
  return static_cast<FenceObject*>(fence);
}
const FenceObject* body(const MTL::Fence* fence) {
  return static_cast<const FenceObject*>(fence);
}

}  // namespace
}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Fence* Device::newFence() {
  DeviceObject* self = body(this);
  return self ? new FenceObject(self) : nullptr;
}

Device* Fence::device() const {
  const FenceObject* self = body(this);
  return self ? self->device : nullptr;
}

NS::String* Fence::label() const {
  const FenceObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void Fence::setLabel(const NS::String* label) {
  if (FenceObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

}  // namespace MTL
