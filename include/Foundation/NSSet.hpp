// Objects without order, each once by isEqual(). The set retains them.
#pragma once

#include "NSDefines.hpp"
#include "NSEnumerator.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

class _NS_EXPORT Set : public Copying<Set> {
 public:
  UInteger count() const;
  Enumerator<Object>* objectEnumerator() const;

  static Set* alloc();

  Set* init();
  Set* init(const Object* const* pObjects, UInteger count);
  Set* init(const class Coder* pCoder);
};

}  // namespace NS
