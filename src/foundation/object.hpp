// What the classes that implement an interface share.
#pragma once

#include <Foundation/NSObject.hpp>
#include <Foundation/NSSharedPtr.hpp>

namespace metalloid::foundation {

// Hands a reference that we own to the current pool; null stays null.
template <class Class>
Class* autoreleased(Class* object) {
  return static_cast<Class*>(NS::Private::autorelease(object));
}

// What an init that failed answers: the object is gone.
template <class Class>
Class* failed_init(Class* object) {
  NS::Private::release(object);
  return nullptr;
}

// Collections take const pointers and keep what they point to.
template <class Class>
NS::SharedPtr<Class> retained(const Class* object) {
  return NS::RetainPtr(const_cast<Class*>(object));
}

}  // namespace metalloid::foundation
