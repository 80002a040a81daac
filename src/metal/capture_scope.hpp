// The object behind MTL::CaptureScope: names a stretch of work. It tells the capture manager where the stretch begins
// and ends.
#pragma once

#include <Metal/MTLCaptureScope.hpp>

#include "foundation/object.hpp"

namespace metalloid::metal {

class CommandQueueObject;
class DeviceObject;

class CaptureScopeObject final : public MTL::CaptureScope {
 public:
  DeviceObject* const device;
  const NS::SharedPtr<CommandQueueObject> queue;  // null: all of the device's
  NS::SharedPtr<NS::String> label;

  CaptureScopeObject(DeviceObject& device, NS::SharedPtr<CommandQueueObject> queue);
  ~CaptureScopeObject() override;

  const char* className() const override { return "MTLCaptureScope"; }
};

// Of the capture manager: what to do when a scope begins and ends.
void scope_begins(const CaptureScopeObject& scope);
void scope_ends(const CaptureScopeObject& scope);

}  // namespace metalloid::metal
