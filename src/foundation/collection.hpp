// The objects of a collection in the order in which enumerators visit them: the elements of an array or a set, the
// keys of a dictionary. Enumeration finds this part in any object with a dynamic_cast.
#pragma once

#include <string>
#include <vector>

#include "foundation/object.hpp"

namespace metalloid::foundation {

struct Collection {
  std::vector<NS::SharedPtr<NS::Object>> objects;

 protected:
  ~Collection() = default;
};

struct HashOfObject {
  std::size_t operator()(const NS::Object* object) const { return object->hash(); }
};

struct EqualObjects {
  bool operator()(const NS::Object* a, const NS::Object* b) const { return a->isEqual(b); }
};

// An object inside the description of a collection: indented, and quoted if it is text with more than plain characters.
std::string described_element(const NS::Object* object);

}  // namespace metalloid::foundation
