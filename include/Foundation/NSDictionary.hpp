// Objects found by a key. Keys are compared with isEqual(); the dictionary copies its keys and retains its objects.
// When a key is given twice, the first one counts.
#pragma once

#include "NSDefines.hpp"
#include "NSEnumerator.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT Dictionary : public Copying<Dictionary> {
 public:
  static Dictionary* dictionary();
  static Dictionary* dictionary(const Object* pObject, const Object* pKey);
  static Dictionary* dictionary(const Object* const* pObjects, const Object* const* pKeys, UInteger count);

  static Dictionary* alloc();

  Dictionary* init();
  Dictionary* init(const Object* const* pObjects, const Object* const* pKeys, UInteger count);
  Dictionary* init(const class Coder* pCoder);

  template <class _KeyType = Object>
  Enumerator<_KeyType>* keyEnumerator() const {
    return (new Enumerator<_KeyType>(this))->autorelease();
  }

  template <class _Object = Object>
  _Object* object(const Object* pKey) const {
    return static_cast<_Object*>(objectForKey(pKey));
  }
  UInteger count() const;

 private:
  Object* objectForKey(const Object* pKey) const;
};

}  // namespace NS
