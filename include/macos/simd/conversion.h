// simd_float(v), simd_int(v), ...: the same numbers as vectors of another type, converted as C++ converts them.
#pragma once

#include <simd/vector_types.h>

namespace metalloid::macos::functions {

template <class To, class From, int N>
inline Vector<To, N> convert(const Vector<From, N>& x) {
  Vector<To, N> result;
  for (int i = 0; i < N; ++i) result.elements[i] = static_cast<To>(x.elements[i]);
  return result;
}

}  // namespace metalloid::macos::functions

#define METALLOID_SIMD_CONVERSION(T, name)                                                   \
  template <class From, int N>                                                               \
  inline metalloid::macos::Vector<T, N> simd_##name(metalloid::macos::Vector<From, N> x) {   \
    return metalloid::macos::functions::convert<T>(x);                                       \
  }                                                                                          \
  template <class From, int N>                                                               \
  inline metalloid::macos::Vector<T, N> vector_##name(metalloid::macos::Vector<From, N> x) { \
    return metalloid::macos::functions::convert<T>(x);                                       \
  }
METALLOID_SIMD_CONVERSION(signed char, char)
METALLOID_SIMD_CONVERSION(unsigned char, uchar)
METALLOID_SIMD_CONVERSION(short, short)
METALLOID_SIMD_CONVERSION(unsigned short, ushort)
METALLOID_SIMD_CONVERSION(int, int)
METALLOID_SIMD_CONVERSION(unsigned int, uint)
METALLOID_SIMD_CONVERSION(long, long)
METALLOID_SIMD_CONVERSION(unsigned long, ulong)
METALLOID_SIMD_CONVERSION(float, float)
METALLOID_SIMD_CONVERSION(double, double)
#ifdef METALLOID_SIMD_HAS_HALF
METALLOID_SIMD_CONVERSION(_Float16, half)
#endif
#undef METALLOID_SIMD_CONVERSION
