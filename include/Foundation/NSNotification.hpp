// Observers that are told when something happens. They run on the thread on which it happens, whatever the queue.
#pragma once

#include <functional>

#include "NSDefines.hpp"
#include "NSDictionary.hpp"
#include "NSObject.hpp"
#include "NSString.hpp"
#include "NSTypes.hpp"

namespace NS {

using NotificationName = class String*;

class _NS_EXPORT Notification : public Referencing<Notification> {
 public:
  String* name() const;
  Object* object() const;
  Dictionary* userInfo() const;
};

#ifdef __BLOCKS__
using ObserverBlock = void (^)(Notification*);
#endif
using ObserverFunction = std::function<void(Notification*)>;

class _NS_EXPORT NotificationCenter : public Referencing<NotificationCenter> {
 public:
  static NotificationCenter* defaultCenter();

  // Answers an object that stands for the observer; null as name or object means any.
  Object* addObserver(NotificationName name, Object* pObj, void* pQueue, ObserverFunction& handler);
#ifdef __BLOCKS__
  Object* addObserver(NotificationName name, Object* pObj, void* pQueue, ObserverBlock block) {
    ObserverFunction handler = Private::functionFromBlock(block);
    return addObserver(name, pObj, pQueue, handler);
  }
#endif
  void removeObserver(Object* pObserver);
};

}  // namespace NS
