#include "metal/capture_scope.hpp"

#include "metal/device.hpp"
#include "metal/property.hpp"
#include "metal/queue.hpp"

namespace metalloid::metal {

CaptureScopeObject::CaptureScopeObject(DeviceObject& device, NS::SharedPtr<CommandQueueObject> queue)
    : device(&device), queue(std::move(queue)) {}

CaptureScopeObject::~CaptureScopeObject() = default;

static CaptureScopeObject* body(MTL::CaptureScope* scope) {
  return static_cast<CaptureScopeObject*>(scope);
}
static const CaptureScopeObject* body(const MTL::CaptureScope* scope) {
  return static_cast<const CaptureScopeObject*>(scope);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Device* CaptureScope::device() const {
  const CaptureScopeObject* self = body(this);
  return self ? self->device : nullptr;
}

CommandQueue* CaptureScope::commandQueue() const {
  const CaptureScopeObject* self = body(this);
  return self ? self->queue.get() : nullptr;
}

NS::String* CaptureScope::label() const {
  const CaptureScopeObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

void CaptureScope::setLabel(const NS::String* label) {
  if (CaptureScopeObject* self = body(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

void CaptureScope::beginScope() {
  if (const CaptureScopeObject* self = body(this)) scope_begins(*self);
}

void CaptureScope::endScope() {
  if (const CaptureScopeObject* self = body(this)) scope_ends(*self);
}

}  // namespace MTL
