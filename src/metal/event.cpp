#include "metal/event.hpp"

#include <Foundation/NSAutoreleasePool.hpp>
#include <Metal/MTLDevice.hpp>
#include <algorithm>

#include "metal/device.hpp"
#include "metal/misuse.hpp"

namespace metalloid::metal {

EventPart* event_part(const MTL::Event* event) {
  return event ? dynamic_cast<EventPart*>(const_cast<MTL::Event*>(event)) : nullptr;
}

namespace {

// Listeners are called on a dispatch queue of the program's, or on one of their own.
class SharedEventListenerObject final : public MTL::SharedEventListener {
 public:
  dispatch_queue_t queue = nullptr;

  ~SharedEventListenerObject() override {
    if (queue) dispatch_release(queue);
  }

  const char* className() const override { return "MTLSharedEventListener"; }
};

// Within this process a handle is the event itself.
class SharedEventHandleObject final : public MTL::SharedEventHandle {
 public:
  NS::SharedPtr<NS::String> label;
  std::shared_ptr<device::Event> event;

  const char* className() const override { return "MTLSharedEventHandle"; }
};

SharedEventObject* body(MTL::SharedEvent* event) {
  return static_cast<SharedEventObject*>(event);
}
const SharedEventObject* body(const MTL::SharedEvent* event) {
  return static_cast<const SharedEventObject*>(event);
}
SharedEventListenerObject* body(MTL::SharedEventListener* listener) {
  return static_cast<SharedEventListenerObject*>(listener);
}
const SharedEventListenerObject* body(const MTL::SharedEventListener* listener) {
  return static_cast<const SharedEventListenerObject*>(listener);
}
const SharedEventHandleObject* body(const MTL::SharedEventHandle* handle) {
  return static_cast<const SharedEventHandleObject*>(handle);
}

// What waits for a value of an event. It keeps the event, which the function is given.
struct Notification {
  NS::SharedPtr<MTL::SharedEvent> event;
  NS::SharedPtr<MTL::SharedEventListener> listener;
  MTL::SharedEventNotificationFunction function;
  uint64_t value = 0;
};

void call_listener(void* context) {
  const std::unique_ptr<Notification> notification(static_cast<Notification*>(context));
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  notification->function(notification->event.get(), notification->value);
}

}  // namespace
}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

Event* Device::newEvent() {
  DeviceObject* self = body(this);
  return self ? new EventObject(self, std::make_shared<metalloid::device::Event>()) : nullptr;
}

SharedEvent* Device::newSharedEvent() {
  DeviceObject* self = body(this);
  return self ? new SharedEventObject(self, std::make_shared<metalloid::device::Event>()) : nullptr;
}

SharedEvent* Device::newSharedEvent(const SharedEventHandle* handle) {
  DeviceObject* self = body(this);
  if (!self || !handle || !body(handle)->event) return nullptr;
  auto* event = new SharedEventObject(self, body(handle)->event);
  event->EventPart::label = body(handle)->label;
  return event;
}

Device* Event::device() const {
  const EventPart* self = event_part(this);
  return self ? self->device : nullptr;
}

NS::String* Event::label() const {
  const EventPart* self = event_part(this);
  return self ? self->label.get() : nullptr;
}

void Event::setLabel(const NS::String* label) {
  if (EventPart* self = event_part(this)) self->label = NS::TransferPtr(label ? label->copy() : nullptr);
}

uint64_t SharedEvent::signaledValue() const {
  const SharedEventObject* self = body(this);
  return self ? self->event->value() : 0;
}

void SharedEvent::setSignaledValue(uint64_t value) {
  if (SharedEventObject* self = body(this)) self->event->set(value);
}

bool SharedEvent::waitUntilSignaledValue(uint64_t value, uint64_t milliseconds) {
  SharedEventObject* self = body(this);
  if (!self) return false;
  constexpr uint64_t century = 100ull * 365 * 24 * 3600 * 1000;  // more cannot be added to a clock
  return self->event->wait_for(value, std::chrono::milliseconds(std::min(milliseconds, century)));
}

void SharedEvent::notifyListener(const SharedEventListener* listener, uint64_t value,
                                 const SharedEventNotificationFunction& function) {
  SharedEventObject* self = body(this);
  if (!self) return;
  if (!listener || !function) return report_misuse(nullptr, "the listener and the function must not be null");
  const Notification notification{NS::RetainPtr<SharedEvent>(this), metalloid::foundation::retained(listener),
                                  function};
  self->event->notify(value, [notification](uint64_t reached) {
    auto* context = new Notification(notification);
    context->value = reached;
    dispatch_async_f(body(notification.listener.get())->queue, context, call_listener);
  });
}

SharedEventHandle* SharedEvent::newSharedEventHandle() {
  SharedEventObject* self = body(this);
  if (!self) return nullptr;
  auto* handle = new SharedEventHandleObject;
  handle->label = self->EventPart::label;
  handle->event = self->event;
  return handle;
}

// A handle without an event: the one to have comes from newSharedEventHandle().
SharedEventHandle* SharedEventHandle::alloc() {
  return new SharedEventHandleObject;
}

SharedEventHandle* SharedEventHandle::init() {
  return this;
}

NS::String* SharedEventHandle::label() const {
  const SharedEventHandleObject* self = body(this);
  return self ? self->label.get() : nullptr;
}

SharedEventListener* SharedEventListener::sharedListener() {
  static SharedEventListener* const listener = alloc()->init();
  return listener;
}

SharedEventListener* SharedEventListener::alloc() {
  return new SharedEventListenerObject;
}

SharedEventListener* SharedEventListener::init() {
  SharedEventListenerObject* self = body(this);
  if (self && !self->queue) self->queue = dispatch_queue_create("metalloid.shared-event-listener", nullptr);
  return self;
}

SharedEventListener* SharedEventListener::init(const dispatch_queue_t queue) {
  SharedEventListenerObject* self = body(this);
  if (!self || !queue) return init();
  dispatch_retain(queue);
  self->queue = queue;
  return self;
}

dispatch_queue_t SharedEventListener::dispatchQueue() const {
  const SharedEventListenerObject* self = body(this);
  return self ? self->queue : nullptr;
}

}  // namespace MTL
