// Enumerators walk over a collection that cannot change. Fast enumeration also takes a collection itself, cast to
// FastEnumeration, since every collection of Cocoa can be enumerated that way. Which of the two it is, the class's name
// tells: programs instantiate Enumerator, maybe without run-time type information.
#include <Foundation/NSEnumerator.hpp>

#include "foundation/array.hpp"

namespace metalloid::foundation {

static constexpr char enumerator_class[] = "NSEnumerator";

static const Collection* collection(const NS::Object* object) {
  return dynamic_cast<const Collection*>(object);
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

FastEnumeration::FastEnumeration(const Object* over)
    : m_pCollection(static_cast<const Object*>(Private::retain(const_cast<Object*>(over)))) {}

FastEnumeration::~FastEnumeration() {
  Private::release(const_cast<Object*>(m_pCollection));
}

const char* FastEnumeration::className() const {
  return enumerator_class;
}

Object* FastEnumeration::next() {
  const FastEnumeration* self = this;
  const Collection* elements = self ? collection(m_pCollection) : nullptr;
  return elements && m_position < elements->objects.size() ? elements->objects[m_position++].get() : nullptr;
}

Array* FastEnumeration::remaining() {
  const FastEnumeration* self = this;
  if (!self) return nullptr;
  std::vector<SharedPtr<Object>> objects;
  while (Object* object = next()) objects.push_back(RetainPtr(object));
  return autoreleased_array(std::move(objects));
}

UInteger FastEnumeration::countByEnumerating(FastEnumerationState* state, Object** buffer, UInteger capacity) {
  static unsigned long never_mutated = 0;
  Object* self = this;
  if (!self || !state || !buffer) return 0;
  state->itemsPtr = buffer;
  state->mutationsPtr = &never_mutated;
  UInteger count = 0;
  if (className() == enumerator_class) {
    while (count < capacity && (buffer[count] = next())) ++count;
  } else if (const Collection* elements = collection(self)) {
    while (count < capacity && state->state < elements->objects.size())
      buffer[count++] = elements->objects[state->state++].get();
  }
  return count;
}

}  // namespace NS
