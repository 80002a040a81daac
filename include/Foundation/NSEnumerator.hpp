// Going through the elements of a collection, one at a time or some at a time.
#pragma once

#include "NSDefines.hpp"
#include "NSObject.hpp"
#include "NSTypes.hpp"

namespace NS {

struct FastEnumerationState {
  unsigned long state;
  Object** itemsPtr;
  unsigned long* mutationsPtr;
  unsigned long extra[5];
};

class _NS_EXPORT FastEnumeration : public Referencing<FastEnumeration> {
 public:
  // Answers how many elements it put at pState->itemsPtr; 0 at the end. The state begins as zeros.
  UInteger countByEnumerating(FastEnumerationState* pState, Object** pBuffer, UInteger len);

 protected:
  explicit FastEnumeration(const Object* pCollection);
  ~FastEnumeration() override;

  const char* className() const override;
  Object* next();
  class Array* remaining();

 private:
  const Object* m_pCollection;
  UInteger m_position = 0;
};

template <class _ObjectType>
class Enumerator : public Referencing<Enumerator<_ObjectType>, FastEnumeration> {
 public:
  _ObjectType* nextObject() { return static_cast<_ObjectType*>(this->next()); }
  class Array* allObjects() { return this->remaining(); }

 private:
  friend class Array;
  friend class Dictionary;
  friend class Set;

  explicit Enumerator(const Object* pCollection) : Referencing<Enumerator<_ObjectType>, FastEnumeration>(pCollection) {}
};

}  // namespace NS
