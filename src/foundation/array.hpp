// The array behind NS::Array.
#pragma once

#include <Foundation/NSArray.hpp>
#include <type_traits>
#include <typeinfo>

#include "foundation/collection.hpp"

namespace metalloid::foundation {

class ArrayObject final : public NS::Array, public Collection {
 public:
  const char* className() const override { return "NSArray"; }
  NS::UInteger contentHash() const override { return objects.size(); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

// The object as one of this class; null if it is another. Programs put anything into arrays.
template <class Element>
Element* element(NS::Object* object) {
  if constexpr (std::is_final_v<Element>)
    return object && typeid(*object) == typeid(Element) ? static_cast<Element*>(object) : nullptr;
  else
    return dynamic_cast<Element*>(object);
}
template <class Element>
Element* element_of(const NS::Array* array, NS::UInteger index) {
  return element<Element>(array->object(index));
}

// All elements of an array, null in place of those that are of another class; of null, none.
template <class Element>
std::vector<Element*> elements_of(const NS::Array* array) {
  std::vector<Element*> elements;
  if (!array) return elements;
  const auto& objects = static_cast<const ArrayObject*>(array)->objects;
  elements.reserve(objects.size());
  for (const auto& object : objects) elements.push_back(element<Element>(object.get()));
  return elements;
}

NS::Array* autoreleased_array(std::vector<NS::SharedPtr<NS::Object>> objects);

}  // namespace metalloid::foundation
