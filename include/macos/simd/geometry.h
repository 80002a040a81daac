// Lengths, angles and directions of vectors.
#pragma once

#include <simd/common.h>

namespace metalloid::macos::functions {

template <class T, int N>
inline T dot(const Vector<T, N>& x, const Vector<T, N>& y) {
  return reduce(component::add, x * y);
}

template <class T, int N>
inline T norm_one(const Vector<T, N>& x) {
  return reduce(component::add, map(component::abs, x));
}

template <class T, int N>
inline T norm_inf(const Vector<T, N>& x) {
  return reduce(component::max, map(component::abs, x));
}

template <class T, int N>
inline Vector<T, N> refract(const Vector<T, N>& x, const Vector<T, N>& n, T eta) {
  T cosine = dot(x, n);
  T k = 1 - eta * eta * (1 - cosine * cosine);
  if (k < 0) return T(0);
  return eta * x - (eta * cosine + std::sqrt(k)) * n;
}

}  // namespace metalloid::macos::functions

#define METALLOID_SIMD_GEOMETRY(V)                                                                                 \
  METALLOID_SIMD_FUNCTION(V::Scalar, dot, (V x, V y), { return metalloid::macos::functions::dot(x, y); })          \
  METALLOID_SIMD_FUNCTION(V::Scalar, length_squared, (V x), { return metalloid::macos::functions::dot(x, x); })    \
  METALLOID_SIMD_FUNCTION(V::Scalar, length, (V x), { return std::sqrt(metalloid::macos::functions::dot(x, x)); }) \
  METALLOID_SIMD_FUNCTION(V::Scalar, norm_one, (V x), { return metalloid::macos::functions::norm_one(x); })        \
  METALLOID_SIMD_FUNCTION(V::Scalar, norm_inf, (V x), { return metalloid::macos::functions::norm_inf(x); })        \
  METALLOID_SIMD_FUNCTION(V::Scalar, distance_squared, (V x, V y), { return simd_length_squared(x - y); })         \
  METALLOID_SIMD_FUNCTION(V::Scalar, distance, (V x, V y), { return simd_length(x - y); })                         \
  METALLOID_SIMD_FUNCTION(V, normalize, (V x), { return x / simd_length(x); })                                     \
  METALLOID_SIMD_FUNCTION(V::Scalar, fast_length, (V x), { return simd_length(x); })                               \
  METALLOID_SIMD_FUNCTION(V::Scalar, precise_length, (V x), { return simd_length(x); })                            \
  METALLOID_SIMD_FUNCTION(V::Scalar, fast_distance, (V x, V y), { return simd_length(x - y); })                    \
  METALLOID_SIMD_FUNCTION(V::Scalar, precise_distance, (V x, V y), { return simd_length(x - y); })                 \
  METALLOID_SIMD_FUNCTION(V, fast_normalize, (V x), { return simd_normalize(x); })                                 \
  METALLOID_SIMD_FUNCTION(V, precise_normalize, (V x), { return simd_normalize(x); })                              \
  METALLOID_SIMD_FUNCTION(V, project, (V x, V y), { return simd_dot(x, y) / simd_dot(y, y) * y; })                 \
  METALLOID_SIMD_FUNCTION(V, reflect, (V x, V n), { return x - 2 * simd_dot(x, n) * n; })                          \
  METALLOID_SIMD_FUNCTION(V, refract, (V x, V n, V::Scalar eta),                                                   \
                          { return metalloid::macos::functions::refract(x, n, eta); })
METALLOID_SIMD_SIZES(METALLOID_SIMD_GEOMETRY, simd_float)
METALLOID_SIMD_SIZES(METALLOID_SIMD_GEOMETRY, simd_double)
#undef METALLOID_SIMD_GEOMETRY

#define METALLOID_SIMD_CROSS(T)                                                                              \
  METALLOID_SIMD_FUNCTION(T##3, cross, (T##3 x, T##3 y),                                                     \
                          { return {x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x}; }) \
  METALLOID_SIMD_FUNCTION(T##3, cross, (T##2 x, T##2 y), { return {0, 0, x.x * y.y - x.y * y.x}; })          \
  METALLOID_SIMD_FUNCTION(T##1, orient, (T##2 x, T##2 y), { return x.x * y.y - x.y * y.x; })                 \
  METALLOID_SIMD_FUNCTION(T##1, orient, (T##3 x, T##3 y, T##3 z), { return simd_dot(x, simd_cross(y, z)); })
METALLOID_SIMD_CROSS(simd_float)
METALLOID_SIMD_CROSS(simd_double)
#undef METALLOID_SIMD_CROSS

// The names from before simd_.
#define vector_dot simd_dot
#define vector_length simd_length
#define vector_length_squared simd_length_squared
#define vector_norm_one simd_norm_one
#define vector_norm_inf simd_norm_inf
#define vector_distance simd_distance
#define vector_distance_squared simd_distance_squared
#define vector_normalize simd_normalize
#define vector_project simd_project
#define vector_reflect simd_reflect
#define vector_refract simd_refract
#define vector_cross simd_cross
