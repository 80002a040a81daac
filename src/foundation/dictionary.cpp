#include <Foundation/NSDictionary.hpp>
#include <algorithm>
#include <unordered_map>

#include "foundation/collection.hpp"
#include "foundation/misuse.hpp"
#include "foundation/string.hpp"

namespace metalloid::foundation {
namespace {

// The collection's objects are the keys.
class DictionaryObject final : public NS::Dictionary, public Collection {
 public:
  std::unordered_map<const NS::Object*, NS::SharedPtr<NS::Object>, HashOfObject, EqualObjects> values;

  void add(const NS::Object* key, const NS::Object* value);

  const char* className() const override { return "NSDictionary"; }
  NS::UInteger contentHash() const override { return objects.size(); }
  bool contentEquals(const NS::Object& other) const override;
  NS::String* contentDescription() const override;
};

const DictionaryObject* body(const NS::Dictionary* dictionary) {
  return static_cast<const DictionaryObject*>(dictionary);
}
DictionaryObject* body(NS::Dictionary* dictionary) {
  return static_cast<DictionaryObject*>(dictionary);
}

void DictionaryObject::add(const NS::Object* key, const NS::Object* value) {
  if (values.contains(key)) return;
  auto own_key = NS::TransferPtr(static_cast<NS::Object*>(NS::Private::copy(key)));
  values.emplace(own_key.get(), retained(value));
  objects.push_back(std::move(own_key));
}

bool DictionaryObject::contentEquals(const NS::Object& other) const {
  const auto* dictionary = dynamic_cast<const NS::Dictionary*>(&other);
  return dictionary && values.size() == body(dictionary)->values.size() &&
         std::all_of(values.begin(), values.end(), [&](const auto& pair) {
           const auto theirs = body(dictionary)->values.find(pair.first);
           return theirs != body(dictionary)->values.end() && pair.second->isEqual(theirs->second.get());
         });
}

NS::String* DictionaryObject::contentDescription() const {
  std::string text = "{\n";
  for (const auto& key : objects)
    text += "    " + described_element(key.get()) + " = " + described_element(values.at(key.get()).get()) + ";\n";
  return autoreleased_string(text + "}");
}

}  // namespace
}  // namespace metalloid::foundation

namespace NS {

using namespace metalloid::foundation;

Dictionary* Dictionary::dictionary() {
  return alloc()->init()->autorelease();
}

Dictionary* Dictionary::dictionary(const Object* object, const Object* key) {
  return dictionary(&object, &key, 1);
}

Dictionary* Dictionary::dictionary(const Object* const* objects, const Object* const* keys, UInteger count) {
  return autoreleased(alloc()->init(objects, keys, count));
}

Dictionary* Dictionary::alloc() {
  return new DictionaryObject;
}

Dictionary* Dictionary::init() {
  return this;
}

Dictionary* Dictionary::init(const Object* const* objects, const Object* const* keys, UInteger count) {
  const auto has_nil = [count](const Object* const* list) {
    return !list || std::find(list, list + count, nullptr) != list + count;
  };
  if (count != 0 && (has_nil(objects) || has_nil(keys))) {
    report_misuse("-[NSDictionary initWithObjects:forKeys:count:]", "attempt to insert a nil object or key");
    return failed_init(this);
  }
  for (UInteger i = 0; i < count; ++i) body(this)->add(keys[i], objects[i]);
  return this;
}

Dictionary* Dictionary::init(const Coder*) {
  return failed_init(this);
}

Object* Dictionary::objectForKey(const Object* key) const {
  const DictionaryObject* self = body(this);
  if (!self || !key) return nullptr;
  const auto found = self->values.find(key);
  return found == self->values.end() ? nullptr : found->second.get();
}

UInteger Dictionary::count() const {
  const DictionaryObject* self = body(this);
  return self ? self->values.size() : 0;
}

}  // namespace NS
