// A condition variable together with its lock.
#pragma once

#include "NSDate.hpp"
#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

namespace Private {

_NS_EXPORT void lock(Object* pLock);
_NS_EXPORT void unlock(Object* pLock);

}  // namespace Private

template <class _Class, class _Base = class Object>
class Locking : public _Base {
 public:
  void lock() { Private::lock(this); }
  void unlock() { Private::unlock(this); }
};

class _NS_EXPORT Condition : public Locking<Condition> {
 public:
  static Condition* alloc();

  Condition* init();

  void wait();
  bool waitUntilDate(Date* pLimit);
  void signal();
  void broadcast();
};

}  // namespace NS
