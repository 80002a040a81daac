// Order between command buffers. An event works within a device; a shared event also between devices, threads and
// processes, with a value that the CPU can read, set, wait for, or be told about through a listener.
#pragma once

#include <dispatch/dispatch.h>

#include <cstdint>
#include <functional>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Device;
class SharedEvent;
class SharedEventHandle;

using SharedEventNotificationFunction = std::function<void(SharedEvent* pEvent, uint64_t value)>;
#ifdef __BLOCKS__
using SharedEventNotificationBlock = void (^)(SharedEvent* pEvent, uint64_t value);
#endif

class _MTL_EXPORT Event : public NS::Referencing<Event> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

class _MTL_EXPORT SharedEventListener : public NS::Referencing<SharedEventListener> {
 public:
  static SharedEventListener* sharedListener();
  static SharedEventListener* alloc();
  SharedEventListener* init();
  SharedEventListener* init(const dispatch_queue_t dispatchQueue);

  dispatch_queue_t dispatchQueue() const;
};

class _MTL_EXPORT SharedEvent : public NS::Referencing<SharedEvent, Event> {
 public:
  uint64_t signaledValue() const;
  void setSignaledValue(uint64_t signaledValue);
  SharedEventHandle* newSharedEventHandle();
  void notifyListener(const SharedEventListener* listener, uint64_t value,
                      const SharedEventNotificationFunction& function);
  bool waitUntilSignaledValue(uint64_t value, uint64_t milliseconds);

#ifdef __BLOCKS__
  void notifyListener(const SharedEventListener* listener, uint64_t value, const SharedEventNotificationBlock block) {
    notifyListener(listener, value, NS::Private::functionFromBlock(block));
  }
#endif
};

class _MTL_EXPORT SharedEventHandle : public NS::SecureCoding<SharedEventHandle> {
 public:
  static SharedEventHandle* alloc();
  SharedEventHandle* init();

  NS::String* label() const;
};

}  // namespace MTL
