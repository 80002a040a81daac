// The macros with which metal-cpp's headers, and headers that extend them, declare enumerations and constants.
// NS_PRIVATE_IMPLEMENTATION and its sisters for other frameworks need no definition here: a program may define them in
// one of its files, as metal-cpp asks, or not; the code they would emit is in our libraries.
#pragma once

#define _NS_WEAK_IMPORT __attribute__((weak))
#define _NS_EXPORT __attribute__((visibility("default")))
#define _NS_EXTERN extern _NS_EXPORT
#define _NS_INLINE inline __attribute__((always_inline))
#define _NS_PACKED __attribute__((packed))

#define _NS_CONST(type, name) _NS_EXTERN type const name
#define _NS_ENUM(type, name) enum name : type
#define _NS_OPTIONS(type, name) \
  using name = type;            \
  enum : name

#define _NS_CAST_TO_UINT(value) static_cast<NS::UInteger>(value)
#define _NS_VALIDATE_SIZE(ns, name) static_assert(sizeof(ns::name) == sizeof(ns##name), "size mismatch " #ns "::" #name)
#define _NS_VALIDATE_ENUM(ns, name) \
  static_assert(_NS_CAST_TO_UINT(ns::name) == _NS_CAST_TO_UINT(ns##name), "value mismatch " #ns "::" #name)

// Programs ask which system they run on in the compiler's own words, which only Clang understands; every system that
// they can ask for is there, as Clang itself answers on Linux.
#ifndef __clang__
#define __builtin_available(...) true
#endif
