#include <Foundation/NSSet.hpp>
#include <algorithm>
#include <unordered_set>

#include "foundation/collection.hpp"
#include "foundation/misuse.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

class SetObject final : public NS::Set, public Collection {
 public:
  std::unordered_set<const NS::Object*, HashOfObject, EqualObjects> index;

  const char* className() const override { return "NSSet"; }
  NS::UInteger contentHash() const override { return objects.size(); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

const SetObject* body(const NS::Set* set) {
  return static_cast<const SetObject*>(set);
}
SetObject* body(NS::Set* set) {
  return static_cast<SetObject*>(set);
}

bool SetObject::contentEquals(const NS::Object& other) const {
  const auto* set = dynamic_cast<const NS::Set*>(&other);
  return set && objects.size() == body(set)->objects.size() &&
         std::all_of(objects.begin(), objects.end(),
                     [&](const auto& object) { return body(set)->index.contains(object.get()); });
}

NS::String* SetObject::contentDescription() const {
  std::string text = "{(\n";
  for (std::size_t i = 0; i < objects.size(); ++i)
    text += "    " + described_element(objects[i].get()) + (i + 1 < objects.size() ? ",\n" : "\n");
  return autoreleased_string(text + ")}");
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Set* Set::alloc() {
  return new SetObject;
}

Set* Set::init() {
  return this;
}

Set* Set::init(const Object* const* objects, UInteger count) {
  if (count != 0 && (!objects || std::find(objects, objects + count, nullptr) != objects + count)) {
    report_misuse("-[NSSet initWithObjects:count:]", "attempt to insert a nil object");
    return failed_init(this);
  }
  SetObject* self = body(this);
  for (UInteger i = 0; i < count; ++i)
    if (self->index.insert(objects[i]).second) self->objects.push_back(retained(objects[i]));
  return this;
}

Set* Set::init(const Coder*) {
  return failed_init(this);
}

UInteger Set::count() const {
  const SetObject* self = body(this);
  return self ? self->objects.size() : 0;
}

Enumerator<Object>* Set::objectEnumerator() const {
  return (new Enumerator<Object>(this))->autorelease();
}

}  // namespace NS
