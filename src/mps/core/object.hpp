// How classes of MPS hold their data: an interface of the public headers beside a part with the data, which can be
// copied. Interfaces at the end of a branch find their part with part_of; those that others derive from (Kernel,
// MatrixUnaryKernel) with shared_part_of, whatever the object is in full.
#pragma once

#include <cstddef>
#include <typeinfo>

#include "foundation/object.hpp"

namespace metalloid::mps {

template <class Interface, class Part>
class Object final : public Interface, public Part {
 public:
  explicit Object(const char* class_name) : class_name_(class_name) {}

  const char* className() const override { return class_name_; }
  NS::Object* contentCopy() const override {
    auto* copy = new Object(class_name_);
    static_cast<Part&>(*copy) = *this;
    return copy;
  }

 private:
  const char* const class_name_;
};

template <class Part, class Interface>
Part* part_of(Interface* object) {
  return object ? static_cast<Object<Interface, Part>*>(object) : nullptr;
}
template <class Part, class Interface>
const Part* part_of(const Interface* object) {
  return object ? static_cast<const Object<Interface, Part>*>(object) : nullptr;
}

// All objects of a class have their part at the same distance. It is remembered for the class that was seen last: a
// batch asks for the parts of a thousand states.
template <class Part, class Interface>
Part* shared_part_of(Interface* object) {
  if (!object) return nullptr;
  static thread_local const std::type_info* last_class = nullptr;
  static thread_local ptrdiff_t distance = 0;
  char* const place = reinterpret_cast<char*>(object);
  const std::type_info& own_class = typeid(*object);
  if (&own_class == last_class) return reinterpret_cast<Part*>(place + distance);
  Part* part = dynamic_cast<Part*>(object);
  if (part) {
    last_class = &own_class;
    distance = reinterpret_cast<char*>(part) - place;
  }
  return part;
}
template <class Part, class Interface>
const Part* shared_part_of(const Interface* object) {
  return shared_part_of<Part>(const_cast<Interface*>(object));
}

}  // namespace metalloid::mps
