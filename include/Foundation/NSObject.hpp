// Object, the base of every class, and the templates that give each class its own retain(), autorelease() and copy().
// Ownership is Cocoa's: what comes from alloc, new, copy or Create belongs to the caller, who releases it; everything
// else is autoreleased. Counts are safe to change from any thread.
#pragma once

#include <type_traits>

#include "NSDefines.hpp"
#include "NSPrivate.hpp"
#include "NSTypes.hpp"

namespace NS {

template <class _Class, class _Base = class Object>
class _NS_EXPORT Referencing : public _Base {
 public:
  _Class* retain() { return static_cast<_Class*>(Private::retain(this)); }
  void release() { Private::release(this); }
  _Class* autorelease() { return static_cast<_Class*>(Private::autorelease(this)); }
  UInteger retainCount() const { return Private::retainCount(this); }

 protected:
  using _Base::_Base;
};

template <class _Class, class _Base = class Object>
class Copying : public Referencing<_Class, _Base> {
 public:
  _Class* copy() const { return static_cast<_Class*>(Private::copy(this)); }

 protected:
  using Referencing<_Class, _Base>::Referencing;
};

template <class _Class, class _Base = class Object>
class SecureCoding : public Referencing<_Class, _Base> {
 protected:
  using Referencing<_Class, _Base>::Referencing;
};

class _NS_EXPORT Object : public Referencing<Object, Private::Counted> {
 public:
  UInteger hash() const;
  bool isEqual(const Object* pObject) const;
  class String* description() const;
  class String* debugDescription() const;

 protected:
  using Referencing<Object, Private::Counted>::Referencing;
};

}  // namespace NS
