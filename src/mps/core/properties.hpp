// Properties of kernels: a getter and a setter of one member of a part. `nothing` is what a message to nil answers.
#pragma once

#include "mps/core/object.hpp"

#define MPS_PROPERTY(Class, Part, Type, getter, setter, member, nothing)                                   \
  Type Class::getter() const {                                                                             \
    const auto* self = ::metalloid::mps::shared_part_of<::metalloid::mps::Part>(this);                     \
    return self ? self->member : Type nothing;                                                             \
  }                                                                                                        \
  void Class::setter(Type value) {                                                                         \
    if (auto* self = ::metalloid::mps::shared_part_of<::metalloid::mps::Part>(this)) self->member = value; \
  }

#define MPS_READONLY(Class, Part, Type, getter, member, nothing)                       \
  Type Class::getter() const {                                                         \
    const auto* self = ::metalloid::mps::shared_part_of<::metalloid::mps::Part>(this); \
    return self ? self->member : Type nothing;                                         \
  }

#define MPS_ORIGIN(Class, Part, getter, setter, member) \
  MPS_PROPERTY(Class, Part, MTL::Origin, getter, setter, member, (0, 0, 0))
#define MPS_NUMBER(Class, Part, getter, setter, member) \
  MPS_PROPERTY(Class, Part, NS::UInteger, getter, setter, member, (0))
