// Descriptors are bags of properties. Their data is a struct whose fields have the API's names and Metal's default
// values; from it come the object behind the interface, its copies, and a getter and a setter for each field:
//
//   // heap_descriptor.hpp, in namespace metalloid::metal
//   struct HeapProperties {
//     static constexpr const char* class_name = "MTLHeapDescriptor";
//     NS::UInteger size = 0;
//     Copied<NS::String> label;
//   };
//   PROPERTIES(HeapDescriptor, HeapProperties)       // properties(descriptor)->size; null for null
//
//   // heap_descriptor.cpp, in namespace MTL
//   ALLOC(HeapDescriptor)                            // alloc() and init()
//   PROPERTY(HeapDescriptor, size, setSize)
//   PROPERTY(HeapDescriptor, label, setLabel)
//
// A field of another type than a number, an enum or a struct says what becomes of the object it is given:
// NS::SharedPtr<T> retains it, Copied<T> copies it, Nested<T> is part of the descriptor, is copied with it and is never
// null.
#pragma once

#include <memory>
#include <vector>

#include "foundation/object.hpp"

namespace metalloid::metal {

// An object that was copied when it was set: a string, an array, a descriptor.
template <class Class>
struct Copied {
  NS::SharedPtr<Class> object;

  Class* get() const { return object.get(); }
  Class* operator->() const { return object.get(); }
  explicit operator bool() const { return static_cast<bool>(object); }
};

// An object that is made and copied together with its owner, such as the attachments of a pass.
template <class Class>
class Nested {
 public:
  Nested() : object_(fresh()) {}
  Nested(const Nested& other) : object_(copy_of(other.get())) {}
  Nested& operator=(const Nested& other) {
    object_ = copy_of(other.get());
    return *this;
  }

  Class* get() const { return object_.get(); }
  Class* operator->() const { return object_.get(); }
  void replace(const Class* object) { object_ = object ? copy_of(object) : fresh(); }

 private:
  static NS::SharedPtr<Class> fresh() { return NS::TransferPtr(Class::alloc()->init()); }
  static NS::SharedPtr<Class> copy_of(const Class* object) {
    return NS::TransferPtr(static_cast<Class*>(NS::Private::copy(object)));
  }

  NS::SharedPtr<Class> object_;
};

// How a field looks from outside.
template <class T>
struct Field {
  using Value = T;
  using Parameter = T;
  static T get(const T& field) { return field; }
  static void set(T& field, T value) { field = value; }
};

template <class Class>
struct Field<NS::SharedPtr<Class>> {
  using Value = Class*;
  using Parameter = const Class*;
  static Class* get(const NS::SharedPtr<Class>& field) { return field.get(); }
  static void set(NS::SharedPtr<Class>& field, const Class* value) { field = foundation::retained(value); }
};

template <class Class>
struct Field<Copied<Class>> {
  using Value = Class*;
  using Parameter = const Class*;
  static Class* get(const Copied<Class>& field) { return field.get(); }
  static void set(Copied<Class>& field, const Class* value) {
    field.object = NS::TransferPtr(static_cast<Class*>(NS::Private::copy(value)));
  }
};

template <class Class>
struct Field<Nested<Class>> {
  using Value = Class*;
  using Parameter = const Class*;
  static Class* get(const Nested<Class>& field) { return field.get(); }
  static void set(Nested<Class>& field, const Class* value) { field.replace(value); }
};

// The part of a descriptor that interfaces derived from another one share with it.
template <class Properties>
struct PropertyPart {
  Properties properties;
};

// The object behind a descriptor.
template <class Interface, class Properties>
class PropertyBag final : public Interface, public PropertyPart<Properties> {
 public:
  using PropertyPart<Properties>::properties;

  const char* className() const override { return Properties::class_name; }
  NS::Object* contentCopy() const override {
    auto* copy = new PropertyBag;
    copy->properties = properties;
    return copy;
  }
};

// The object behind an array of descriptors, whose elements come into being when they are asked for. Its index counts
// to `limit`; beyond it there is null.
template <class Interface, class Element>
class DescriptorArray final : public Interface {
 public:
  Element* at(NS::UInteger index, NS::UInteger limit) {
    if (index >= limit) return nullptr;
    if (index >= elements_.size()) elements_.resize(index + 1);
    if (!elements_[index]) elements_[index] = NS::TransferPtr(Element::alloc()->init());
    return elements_[index].get();
  }

  // Null puts the default back.
  void set(const Element* element, NS::UInteger index, NS::UInteger limit) {
    if (index >= limit) return;
    if (index >= elements_.size()) elements_.resize(index + 1);
    elements_[index] = NS::TransferPtr(static_cast<Element*>(NS::Private::copy(element)));
  }

  const char* className() const override { return "MTLDescriptorArray"; }
  NS::Object* contentCopy() const override {
    auto* copy = new DescriptorArray;
    for (const auto& element : elements_)
      copy->elements_.push_back(NS::TransferPtr(static_cast<Element*>(NS::Private::copy(element.get()))));
    return copy;
  }

 private:
  std::vector<NS::SharedPtr<Element>> elements_;
};

}  // namespace metalloid::metal

// In namespace metalloid::metal itself, not in an unnamed one inside it: how to get at the properties of a descriptor.
#define PROPERTIES(Class, Properties)                                                         \
  using Class##Object = PropertyBag<MTL::Class, Properties>;                                  \
  inline Properties* properties(MTL::Class* descriptor) {                                     \
    return descriptor ? &static_cast<Class##Object*>(descriptor)->properties : nullptr;       \
  }                                                                                           \
  inline const Properties* properties(const MTL::Class* descriptor) {                         \
    return descriptor ? &static_cast<const Class##Object*>(descriptor)->properties : nullptr; \
  }

// The same for a descriptor from which others are derived: any bag of these properties may be behind it.
#define BASE_PROPERTIES(Class, Properties)                                        \
  using Class##Object = PropertyBag<MTL::Class, Properties>;                      \
  inline Properties* properties(MTL::Class* descriptor) {                         \
    auto* part = dynamic_cast<PropertyPart<Properties>*>(descriptor);             \
    return part ? &part->properties : nullptr;                                    \
  }                                                                               \
  inline const Properties* properties(const MTL::Class* descriptor) {             \
    const auto* part = dynamic_cast<const PropertyPart<Properties>*>(descriptor); \
    return part ? &part->properties : nullptr;                                    \
  }

// In namespace MTL: the methods.
#define ALLOC(Class)                              \
  Class* Class::alloc() {                         \
    return new ::metalloid::metal::Class##Object; \
  }                                               \
  Class* Class::init() {                          \
    return this;                                  \
  }

#define FIELD_OF(Class, name) ::metalloid::metal::Field<decltype(::metalloid::metal::Class##Object::properties.name)>

#define READ_PROPERTY(Class, name)                                                         \
  FIELD_OF(Class, name)::Value Class::name() const {                                       \
    const auto* self = ::metalloid::metal::properties(this);                               \
    return self ? FIELD_OF(Class, name)::get(self->name) : FIELD_OF(Class, name)::Value{}; \
  }

#define PROPERTY(Class, name, setName)                                                                    \
  READ_PROPERTY(Class, name)                                                                              \
  void Class::setName(FIELD_OF(Class, name)::Parameter value) {                                           \
    if (auto* self = ::metalloid::metal::properties(this)) FIELD_OF(Class, name)::set(self->name, value); \
  }

// In namespace MTL: an array of descriptors with all its methods.
#define DESCRIPTOR_ARRAY(Class, Element, limit)                                           \
  Class* Class::alloc() {                                                                 \
    return new ::metalloid::metal::DescriptorArray<Class, Element>;                       \
  }                                                                                       \
  Class* Class::init() {                                                                  \
    return this;                                                                          \
  }                                                                                       \
  Element* Class::object(NS::UInteger index) {                                            \
    auto* self = static_cast<::metalloid::metal::DescriptorArray<Class, Element>*>(this); \
    return self ? self->at(index, limit) : nullptr;                                       \
  }                                                                                       \
  void Class::setObject(const Element* element, NS::UInteger index) {                     \
    auto* self = static_cast<::metalloid::metal::DescriptorArray<Class, Element>*>(this); \
    if (self) self->set(element, index, limit);                                           \
  }
