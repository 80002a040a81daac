// Objects in order. The array retains them.
#pragma once

#include "NSDefines.hpp"
#include "NSEnumerator.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT Array : public Copying<Array> {
 public:
  static Array* array();
  static Array* array(const Object* pObject);
  static Array* array(const Object* const* pObjects, UInteger count);

  static Array* alloc();

  Array* init();
  Array* init(const Object* const* pObjects, UInteger count);
  Array* init(const class Coder* pCoder);

  template <class _Object = Object>
  _Object* object(UInteger index) const {
    return static_cast<_Object*>(objectAtIndex(index));
  }
  UInteger count() const;
  Enumerator<Object>* objectEnumerator() const;

 private:
  Object* objectAtIndex(UInteger index) const;
};

}  // namespace NS
