// Collects the autoreleased objects of its thread until it is drained. Pools nest; releasing one drains those made
// after it too. What is autoreleased where there is no pool lives until its thread ends; with
// OBJC_DEBUG_MISSING_POOLS=YES each such object is reported.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT AutoreleasePool : public Object {
 public:
  static AutoreleasePool* alloc();
  AutoreleasePool* init();

  void drain();
  void addObject(Object* pObject);

  static void showPools();
};

}  // namespace NS
