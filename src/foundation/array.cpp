#include "foundation/array.hpp"

#include <algorithm>

#include "foundation/misuse.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {

static const ArrayObject* body(const NS::Array* array) {
  return static_cast<const ArrayObject*>(array);
}
static ArrayObject* body(NS::Array* array) {
  return static_cast<ArrayObject*>(array);
}

bool ArrayObject::contentEquals(const NS::Object& other) const {
  const auto* array = dynamic_cast<const NS::Array*>(&other);
  if (!array) return false;
  const auto& theirs = body(array)->objects;
  return std::equal(objects.begin(), objects.end(), theirs.begin(), theirs.end(),
                    [](const auto& a, const auto& b) { return a->isEqual(b.get()); });
}

NS::String* ArrayObject::contentDescription() const {
  std::string text = "(\n";
  for (std::size_t i = 0; i < objects.size(); ++i)
    text += "    " + described_element(objects[i].get()) + (i + 1 < objects.size() ? ",\n" : "\n");
  return autoreleased_string(text + ")");
}

NS::Array* autoreleased_array(std::vector<NS::SharedPtr<NS::Object>> objects) {
  auto* array = new ArrayObject;
  array->objects = std::move(objects);
  return array->autorelease();
}

}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Array* Array::array() {
  return alloc()->init()->autorelease();
}

Array* Array::array(const Object* object) {
  return array(&object, 1);
}

Array* Array::array(const Object* const* objects, UInteger count) {
  return autoreleased(alloc()->init(objects, count));
}

Array* Array::alloc() {
  return new ArrayObject;
}

Array* Array::init() {
  return this;
}

Array* Array::init(const Object* const* objects, UInteger count) {
  if (count != 0 && (!objects || std::find(objects, objects + count, nullptr) != objects + count)) {
    report_misuse("-[NSArray initWithObjects:count:]", "attempt to insert a nil object");
    return failed_init(this);
  }
  for (UInteger i = 0; i < count; ++i) body(this)->objects.push_back(retained(objects[i]));
  return this;
}

Array* Array::init(const Coder*) {
  return failed_init(this);
}

Object* Array::objectAtIndex(UInteger index) const {
  const ArrayObject* self = body(this);
  if (!self) return nullptr;
  if (index < self->objects.size()) return self->objects[index].get();
  report_misuse("-[NSArray objectAtIndex:]", "index " + std::to_string(index) + " beyond the array's " +
                                                 std::to_string(self->objects.size()) + " objects");
  return nullptr;
}

UInteger Array::count() const {
  const ArrayObject* self = body(this);
  return self ? self->objects.size() : 0;
}

Enumerator<Object>* Array::objectEnumerator() const {
  return (new Enumerator<Object>(this))->autorelease();
}

}  // namespace NS
