// The functions of <math.h> for vectors of float and double, under the names that they have for numbers: sqrt(v),
// simd::sqrt(v), simd_sqrt(v).
#pragma once

#include <simd/common.h>

#define METALLOID_SIMD_MATH(V, name, parameters, ...)       \
  METALLOID_SIMD_FUNCTION(V, name, parameters, __VA_ARGS__) \
  inline V name parameters __VA_ARGS__

#define METALLOID_SIMD_MATH_1(V, name) \
  METALLOID_SIMD_MATH(V, name, (V x),  \
                      { return metalloid::macos::functions::map([](V::Scalar a) { return std::name(a); }, x); })
#define METALLOID_SIMD_MATH_2(V, name)                                                                       \
  METALLOID_SIMD_MATH(V, name, (V x, V y), {                                                                 \
    return metalloid::macos::functions::map([](V::Scalar a, V::Scalar b) { return std::name(a, b); }, x, y); \
  })

#define METALLOID_SIMD_OF_FLOAT_AND_DOUBLE(V)                                                                        \
  METALLOID_SIMD_MATH_1(V, sqrt)                                                                                     \
  METALLOID_SIMD_MATH_1(V, cbrt)                                                                                     \
  METALLOID_SIMD_MATH_1(V, fabs)                                                                                     \
  METALLOID_SIMD_MATH_1(V, floor)                                                                                    \
  METALLOID_SIMD_MATH_1(V, ceil)                                                                                     \
  METALLOID_SIMD_MATH_1(V, trunc)                                                                                    \
  METALLOID_SIMD_MATH_1(V, round)                                                                                    \
  METALLOID_SIMD_MATH_1(V, rint)                                                                                     \
  METALLOID_SIMD_MATH_1(V, exp)                                                                                      \
  METALLOID_SIMD_MATH_1(V, exp2)                                                                                     \
  METALLOID_SIMD_MATH_1(V, expm1)                                                                                    \
  METALLOID_SIMD_MATH_1(V, log)                                                                                      \
  METALLOID_SIMD_MATH_1(V, log2)                                                                                     \
  METALLOID_SIMD_MATH_1(V, log10)                                                                                    \
  METALLOID_SIMD_MATH_1(V, log1p)                                                                                    \
  METALLOID_SIMD_MATH_1(V, sin)                                                                                      \
  METALLOID_SIMD_MATH_1(V, cos)                                                                                      \
  METALLOID_SIMD_MATH_1(V, tan)                                                                                      \
  METALLOID_SIMD_MATH_1(V, asin)                                                                                     \
  METALLOID_SIMD_MATH_1(V, acos)                                                                                     \
  METALLOID_SIMD_MATH_1(V, atan)                                                                                     \
  METALLOID_SIMD_MATH_1(V, sinh)                                                                                     \
  METALLOID_SIMD_MATH_1(V, cosh)                                                                                     \
  METALLOID_SIMD_MATH_1(V, tanh)                                                                                     \
  METALLOID_SIMD_MATH_1(V, erf)                                                                                      \
  METALLOID_SIMD_MATH_1(V, tgamma)                                                                                   \
  METALLOID_SIMD_MATH_1(V, lgamma)                                                                                   \
  METALLOID_SIMD_MATH_2(V, pow)                                                                                      \
  METALLOID_SIMD_MATH_2(V, atan2)                                                                                    \
  METALLOID_SIMD_MATH_2(V, fmod)                                                                                     \
  METALLOID_SIMD_MATH_2(V, fmin)                                                                                     \
  METALLOID_SIMD_MATH_2(V, fmax)                                                                                     \
  METALLOID_SIMD_MATH_2(V, fdim)                                                                                     \
  METALLOID_SIMD_MATH_2(V, hypot)                                                                                    \
  METALLOID_SIMD_MATH_2(V, copysign)                                                                                 \
  METALLOID_SIMD_MATH(V, fma, (V x, V y, V z), {                                                                     \
    return metalloid::macos::functions::map([](V::Scalar a, V::Scalar b, V::Scalar c) { return std::fma(a, b, c); }, \
                                            x, y, z);                                                                \
  })                                                                                                                 \
  METALLOID_SIMD_FUNCTION(V, muladd, (V x, V y, V z), { return x * y + z; })
METALLOID_SIMD_SIZES(METALLOID_SIMD_OF_FLOAT_AND_DOUBLE, simd_float)
METALLOID_SIMD_SIZES(METALLOID_SIMD_OF_FLOAT_AND_DOUBLE, simd_double)
#undef METALLOID_SIMD_OF_FLOAT_AND_DOUBLE
#undef METALLOID_SIMD_MATH_2
#undef METALLOID_SIMD_MATH_1
#undef METALLOID_SIMD_MATH
