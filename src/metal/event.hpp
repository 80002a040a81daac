// The objects behind MTL::Event and MTL::SharedEvent.
#pragma once

#include <Metal/MTLEvent.hpp>
#include <memory>

#include "device/event.hpp"
#include "foundation/object.hpp"

namespace metalloid::metal {

class DeviceObject;

class EventPart {
 public:
  DeviceObject* const device;
  const std::shared_ptr<device::Event> event;
  NS::SharedPtr<NS::String> label;

  EventPart(DeviceObject* device, std::shared_ptr<device::Event> event) : device(device), event(std::move(event)) {}

 protected:
  virtual ~EventPart() = default;
};

class EventObject final : public MTL::Event, public EventPart {
 public:
  using EventPart::EventPart;
  const char* className() const override { return "MTLEvent"; }
};

class SharedEventObject final : public MTL::SharedEvent, public EventPart {
 public:
  using EventPart::EventPart;
  const char* className() const override { return "MTLSharedEvent"; }
};

// Null for null.
EventPart* event_part(const MTL::Event* event);

}  // namespace metalloid::metal
