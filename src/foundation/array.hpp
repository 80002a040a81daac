// The array behind NS::Array.
#pragma once

#include <Foundation/NSArray.hpp>

#include "foundation/collection.hpp"

namespace metalloid::foundation {

class ArrayObject final : public NS::Array, public Collection {
 public:
  const char* className() const override { return "NSArray"; }
  NS::UInteger contentHash() const override { return objects.size(); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

// The elements of an array whose elements are all of this class; of null, none.
template <class Element>
std::vector<Element*> elements_of(const NS::Array* array) {
  std::vector<Element*> elements;
  if (!array) return elements;
  const auto& objects = static_cast<const ArrayObject*>(array)->objects;
  elements.reserve(objects.size());
  for (const auto& object : objects) elements.push_back(static_cast<Element*>(object.get()));
  return elements;
}

NS::Array* autoreleased_array(std::vector<NS::SharedPtr<NS::Object>> objects);

}  // namespace metalloid::foundation
