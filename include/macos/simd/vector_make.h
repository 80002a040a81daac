// simd_make_float4 and its relatives: a vector from numbers and shorter vectors, put one after the other. From one
// argument alone: a longer vector is cut, a shorter one, or a number, is filled up with zeros. vector4 and its relatives
// are the old names, whose type is that of their arguments.
#pragma once

#include <simd/vector_types.h>

namespace metalloid::macos::functions {

template <class T, int N>
inline void append(Vector<T, N>& result, int& filled, T value) {
  if (filled < N) result.elements[filled++] = value;
}

template <class T, int N, int M>
inline void append(Vector<T, N>& result, int& filled, const Vector<T, M>& values) {
  for (T value : values.elements) append(result, filled, value);
}

template <class V, class... Parts>
inline V make(const Parts&... parts) {
  V result(typename V::Scalar(0));
  int filled = 0;
  (append(result, filled, parts), ...);
  return result;
}

}  // namespace metalloid::macos::functions

#define METALLOID_SIMD_MAKE_FROM(name, N, parameters, ...)                 \
  inline simd_##name##N simd_make_##name##N parameters {                   \
    return metalloid::macos::functions::make<simd_##name##N>(__VA_ARGS__); \
  }                                                                        \
  namespace simd {                                                         \
  inline name##N make_##name##N parameters {                               \
    return metalloid::macos::functions::make<name##N>(__VA_ARGS__);        \
  }                                                                        \
  }
#define METALLOID_SIMD_MAKE_FROM_ONE(name, N)                      \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##1 other), other) \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##2 other), other) \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##3 other), other) \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##4 other), other) \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##8 other), other) \
  METALLOID_SIMD_MAKE_FROM(name, N, (simd_##name##16 other), other)

#define METALLOID_SIMD_OLD_NAME(name, N, parameters, ...) \
  inline simd_##name##N vector##N parameters { return simd_make_##name##N(__VA_ARGS__); }

#define METALLOID_SIMD_MAKE(name)                                                                                      \
  METALLOID_SIMD_MAKE_FROM_ONE(name, 2)                                                                                \
  METALLOID_SIMD_MAKE_FROM_ONE(name, 3)                                                                                \
  METALLOID_SIMD_MAKE_FROM_ONE(name, 4)                                                                                \
  METALLOID_SIMD_MAKE_FROM_ONE(name, 8)                                                                                \
  METALLOID_SIMD_MAKE_FROM_ONE(name, 16)                                                                               \
  METALLOID_SIMD_MAKE_FROM(name, 2, (simd_##name##1 x, simd_##name##1 y), x, y)                                        \
  METALLOID_SIMD_MAKE_FROM(name, 3, (simd_##name##1 x, simd_##name##1 y, simd_##name##1 z), x, y, z)                   \
  METALLOID_SIMD_MAKE_FROM(name, 3, (simd_##name##1 x, simd_##name##2 yz), x, yz)                                      \
  METALLOID_SIMD_MAKE_FROM(name, 3, (simd_##name##2 xy, simd_##name##1 z), xy, z)                                      \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##1 x, simd_##name##1 y, simd_##name##1 z, simd_##name##1 w), x, y, z, \
                           w)                                                                                          \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##1 x, simd_##name##1 y, simd_##name##2 zw), x, y, zw)                 \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##1 x, simd_##name##2 yz, simd_##name##1 w), x, yz, w)                 \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##2 xy, simd_##name##1 z, simd_##name##1 w), xy, z, w)                 \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##1 x, simd_##name##3 yzw), x, yzw)                                    \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##2 xy, simd_##name##2 zw), xy, zw)                                    \
  METALLOID_SIMD_MAKE_FROM(name, 4, (simd_##name##3 xyz, simd_##name##1 w), xyz, w)                                    \
  METALLOID_SIMD_MAKE_FROM(name, 8, (simd_##name##4 lo, simd_##name##4 hi), lo, hi)                                    \
  METALLOID_SIMD_MAKE_FROM(name, 16, (simd_##name##8 lo, simd_##name##8 hi), lo, hi)                                   \
  METALLOID_SIMD_OLD_NAME(name, 2, (simd_##name##1 x, simd_##name##1 y), x, y)                                         \
  METALLOID_SIMD_OLD_NAME(name, 3, (simd_##name##1 x, simd_##name##1 y, simd_##name##1 z), x, y, z)                    \
  METALLOID_SIMD_OLD_NAME(name, 3, (simd_##name##2 xy, simd_##name##1 z), xy, z)                                       \
  METALLOID_SIMD_OLD_NAME(name, 4, (simd_##name##1 x, simd_##name##1 y, simd_##name##1 z, simd_##name##1 w), x, y, z,  \
                          w)                                                                                           \
  METALLOID_SIMD_OLD_NAME(name, 4, (simd_##name##2 xy, simd_##name##2 zw), xy, zw)                                     \
  METALLOID_SIMD_OLD_NAME(name, 4, (simd_##name##3 xyz, simd_##name##1 w), xyz, w)
METALLOID_SIMD_MAKE(char)
METALLOID_SIMD_MAKE(uchar)
METALLOID_SIMD_MAKE(short)
METALLOID_SIMD_MAKE(ushort)
METALLOID_SIMD_MAKE(int)
METALLOID_SIMD_MAKE(uint)
METALLOID_SIMD_MAKE(long)
METALLOID_SIMD_MAKE(ulong)
METALLOID_SIMD_MAKE(float)
METALLOID_SIMD_MAKE(double)
#ifdef METALLOID_SIMD_HAS_HALF
METALLOID_SIMD_MAKE(half)
#endif
#undef METALLOID_SIMD_MAKE
#undef METALLOID_SIMD_OLD_NAME
#undef METALLOID_SIMD_MAKE_FROM_ONE
#undef METALLOID_SIMD_MAKE_FROM
