// Metal's graphics, ray tracing and file loading are declared so that programs compile and link, but are not part of
// what runs here. Their descriptors hold what they are given; objects that would need such hardware are never made: the
// calls that would make one answer null, with an error where there is room for it, and say so once on stderr.
#pragma once

#include <string>
#include <string_view>

#include "metal/misuse.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

// The sentence for the call's error. `what` is not there, such as "drawing". Printed the first time.
std::string refuse(std::string_view what, Call call = Call::current());

// The object behind a descriptor whose interface is derived from another descriptor's: it holds the properties of both.
// A class whose inherited properties have defaults of its own gives them as `inherited()`.
template <class Interface, class BaseProperties, class Properties>
class DerivedPropertyBag final : public Interface,
                                 public PropertyPart<BaseProperties>,
                                 public PropertyPart<Properties> {
 public:
  using PropertyPart<Properties>::properties;

  DerivedPropertyBag() {
    if constexpr (requires { Properties::inherited(); })
      PropertyPart<BaseProperties>::properties = Properties::inherited();
  }

  const char* className() const override { return Properties::class_name; }
  NS::Object* contentCopy() const override {
    auto* copy = new DerivedPropertyBag;
    copy->PropertyPart<BaseProperties>::properties = PropertyPart<BaseProperties>::properties;
    copy->properties = properties;
    return copy;
  }
};

}  // namespace metalloid::metal

// In namespace metalloid::metal: PROPERTIES for such a descriptor; that of its base is BASE_PROPERTIES.
#define DERIVED_PROPERTIES(Class, BaseProperties, Properties)                                 \
  using Class##Object = DerivedPropertyBag<MTL::Class, BaseProperties, Properties>;           \
  inline Properties* properties(MTL::Class* descriptor) {                                     \
    return descriptor ? &static_cast<Class##Object*>(descriptor)->properties : nullptr;       \
  }                                                                                           \
  inline const Properties* properties(const MTL::Class* descriptor) {                         \
    return descriptor ? &static_cast<const Class##Object*>(descriptor)->properties : nullptr; \
  }

// In namespace MTL: a function that gives a fresh descriptor.
#define AUTORELEASED(Class, name)                                  \
  Class* Class::name() {                                           \
    return ::metalloid::foundation::autoreleased(alloc()->init()); \
  }

// In namespace MTL: puts all properties back to their defaults.
#define RESET(Class)                                                   \
  void Class::reset() {                                                \
    if (auto* self = ::metalloid::metal::properties(this)) *self = {}; \
  }

// In namespace MTL: a method of a class of which there is no object. It can only be sent to nil, and answers zero.
#define NEVER_SENT(...) \
  __VA_ARGS__ {         \
    return {};          \
  }
