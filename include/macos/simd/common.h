// Functions of vectors that work component by component: minimum, interpolation, choice; and those that reduce a vector
// to one number. Every function is there as simd_name and as simd::name.
#pragma once

#include <simd/vector_types.h>

#include <cmath>

// For each vector type that has numbers of the kind: F(simd_float2) F(simd_float3) ... Halves, and integers that are
// not masks of floats or doubles, have these functions up to four components: all sizes of all types would make the
// header slow to compile.
#define METALLOID_SIMD_SMALL_SIZES(F, name) F(name##2) F(name##3) F(name##4)
#define METALLOID_SIMD_SIZES(F, name) METALLOID_SIMD_SMALL_SIZES(F, name) F(name##8) F(name##16)
#ifdef METALLOID_SIMD_HAS_HALF
#define METALLOID_SIMD_HALVES(F) METALLOID_SIMD_SMALL_SIZES(F, simd_half)
#else
#define METALLOID_SIMD_HALVES(F)
#endif
#define METALLOID_SIMD_FLOATING(F)     \
  METALLOID_SIMD_SIZES(F, simd_float)  \
  METALLOID_SIMD_SIZES(F, simd_double) \
  METALLOID_SIMD_HALVES(F)
#define METALLOID_SIMD_MASKS(F)     \
  METALLOID_SIMD_SIZES(F, simd_int) \
  METALLOID_SIMD_SIZES(F, simd_long)
#define METALLOID_SIMD_INTEGERS(F)           \
  METALLOID_SIMD_MASKS(F)                    \
  METALLOID_SIMD_SMALL_SIZES(F, simd_char)   \
  METALLOID_SIMD_SMALL_SIZES(F, simd_uchar)  \
  METALLOID_SIMD_SMALL_SIZES(F, simd_short)  \
  METALLOID_SIMD_SMALL_SIZES(F, simd_ushort) \
  METALLOID_SIMD_SMALL_SIZES(F, simd_uint)   \
  METALLOID_SIMD_SMALL_SIZES(F, simd_ulong)

// One function under both of its names.
#define METALLOID_SIMD_FUNCTION(result, name, parameters, ...)      \
  inline result simd_##name parameters __VA_ARGS__ namespace simd { \
    inline result name parameters __VA_ARGS__                       \
  }

namespace metalloid::macos::functions {

template <class F, class T, int N, class... More>
inline Vector<T, N> map(F function, const Vector<T, N>& first, const More&... more) {
  Vector<T, N> result;
  for (int i = 0; i < N; ++i) result.elements[i] = static_cast<T>(function(first.elements[i], more.elements[i]...));
  return result;
}

template <class F, class T, int N>
inline T reduce(F function, const Vector<T, N>& x) {
  T result = x.elements[0];
  for (int i = 1; i < N; ++i) result = static_cast<T>(function(result, x.elements[i]));
  return result;
}

// What happens to one component. A number that is not one (NaN) loses against any other, as in fmin and fmax.
namespace component {
inline constexpr auto min = [](auto x, auto y) { return x < y || y != y ? x : y; };
inline constexpr auto max = [](auto x, auto y) { return x > y || y != y ? x : y; };
inline constexpr auto clamp = [](auto x, auto low, auto high) { return min(max(x, low), high); };
inline constexpr auto abs = [](auto x) { return x < 0 ? -x : x + 0; };
inline constexpr auto add = [](auto x, auto y) { return x + y; };
inline constexpr auto multiply = [](auto x, auto y) { return x * y; };
inline constexpr auto mix = [](auto x, auto y, auto t) { return x + t * (y - x); };
inline constexpr auto step = [](auto edge, auto x) { return x < edge ? 0 : 1; };
inline constexpr auto smoothstep = [](auto low, auto high, auto x) {
  auto t = clamp((x - low) / (high - low), decltype(x)(0), decltype(x)(1));
  return t * t * (3 - 2 * t);
};
inline constexpr auto sign = [](auto x) { return x > 0 ? 1 : x < 0 ? -1 : 0; };
inline constexpr auto recip = [](auto x) { return 1 / x; };
inline constexpr auto rsqrt = [](auto x) { return 1 / std::sqrt(x); };
// The largest number below one is the result for tiny negative numbers, whose distance to -1 rounds to one.
inline constexpr auto fract = [](auto x) {
  auto below_one = std::nextafter(decltype(x)(1), decltype(x)(0));
  return min(x - std::floor(x), below_one);
};
}  // namespace component

// The sign bit of a mask decides.
template <class T, int N, class M>
inline Vector<T, N> select(const Vector<T, N>& x, const Vector<T, N>& y, const Vector<M, N>& mask) {
  return map([](T a, T b, M m) { return m < 0 ? b : a; }, x, y, mask);
}

template <class T, int N>
inline bool any(const Vector<T, N>& mask) {
  for (T value : mask.elements)
    if (static_cast<std::make_signed_t<T>>(value) < 0) return true;
  return false;
}

template <class T, int N>
inline bool all(const Vector<T, N>& mask) {
  return !any(~mask);
}

}  // namespace metalloid::macos::functions

#define METALLOID_SIMD_OF_EVERY(V)                                                                                 \
  METALLOID_SIMD_FUNCTION(V, min, (V x, V y), {                                                                    \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::min, x, y);                    \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(V, max, (V x, V y), {                                                                    \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::max, x, y);                    \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(V, clamp, (V x, V low, V high), {                                                        \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::clamp, x, low, high);          \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(                                                                                         \
      V, abs, (V x), { return metalloid::macos::functions::map(metalloid::macos::functions::component::abs, x); }) \
  METALLOID_SIMD_FUNCTION(V, select, (V x, V y, V::MaskVector mask),                                               \
                          { return metalloid::macos::functions::select(x, y, mask); })                             \
  METALLOID_SIMD_FUNCTION(V::Scalar, reduce_add, (V x), {                                                          \
    return metalloid::macos::functions::reduce(metalloid::macos::functions::component::add, x);                    \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(V::Scalar, reduce_min, (V x), {                                                          \
    return metalloid::macos::functions::reduce(metalloid::macos::functions::component::min, x);                    \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(V::Scalar, reduce_max, (V x), {                                                          \
    return metalloid::macos::functions::reduce(metalloid::macos::functions::component::max, x);                    \
  })                                                                                                               \
  METALLOID_SIMD_FUNCTION(bool, equal, (V x, V y), { return metalloid::macos::functions::all(x == y); })
METALLOID_SIMD_FLOATING(METALLOID_SIMD_OF_EVERY)
METALLOID_SIMD_INTEGERS(METALLOID_SIMD_OF_EVERY)
#undef METALLOID_SIMD_OF_EVERY

#define METALLOID_SIMD_OF_INTEGERS(V)                                                        \
  METALLOID_SIMD_FUNCTION(bool, any, (V x), { return metalloid::macos::functions::any(x); }) \
  METALLOID_SIMD_FUNCTION(bool, all, (V x), { return metalloid::macos::functions::all(x); })
METALLOID_SIMD_INTEGERS(METALLOID_SIMD_OF_INTEGERS)
#undef METALLOID_SIMD_OF_INTEGERS

#define METALLOID_SIMD_OF_FLOATING(V)                                                                          \
  METALLOID_SIMD_FUNCTION(V, mix, (V x, V y, V t), {                                                           \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::mix, x, y, t);             \
  })                                                                                                           \
  METALLOID_SIMD_FUNCTION(V, lerp, (V x, V y, V t), {                                                          \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::mix, x, y, t);             \
  })                                                                                                           \
  METALLOID_SIMD_FUNCTION(V, step, (V edge, V x), {                                                            \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::step, edge, x);            \
  })                                                                                                           \
  METALLOID_SIMD_FUNCTION(V, smoothstep, (V low, V high, V x), {                                               \
    return metalloid::macos::functions::map(metalloid::macos::functions::component::smoothstep, low, high, x); \
  })                                                                                                           \
  METALLOID_SIMD_FUNCTION(                                                                                     \
      V, sign, (V x), { return metalloid::macos::functions::map(metalloid::macos::functions::component::sign, x); })
METALLOID_SIMD_FLOATING(METALLOID_SIMD_OF_FLOATING)
#undef METALLOID_SIMD_OF_FLOATING

#define METALLOID_SIMD_OF_FLOAT_AND_DOUBLE(V)                                                                          \
  METALLOID_SIMD_FUNCTION(                                                                                             \
      V, fract, (V x), { return metalloid::macos::functions::map(metalloid::macos::functions::component::fract, x); }) \
  METALLOID_SIMD_FUNCTION(                                                                                             \
      V, recip, (V x), { return metalloid::macos::functions::map(metalloid::macos::functions::component::recip, x); }) \
  METALLOID_SIMD_FUNCTION(                                                                                             \
      V, rsqrt, (V x), { return metalloid::macos::functions::map(metalloid::macos::functions::component::rsqrt, x); }) \
  METALLOID_SIMD_FUNCTION(V, precise_recip, (V x), { return simd_recip(x); })                                          \
  METALLOID_SIMD_FUNCTION(V, fast_recip, (V x), { return simd_recip(x); })                                             \
  METALLOID_SIMD_FUNCTION(V, precise_rsqrt, (V x), { return simd_rsqrt(x); })                                          \
  METALLOID_SIMD_FUNCTION(V, fast_rsqrt, (V x), { return simd_rsqrt(x); })
METALLOID_SIMD_SIZES(METALLOID_SIMD_OF_FLOAT_AND_DOUBLE, simd_float)
METALLOID_SIMD_SIZES(METALLOID_SIMD_OF_FLOAT_AND_DOUBLE, simd_double)
#undef METALLOID_SIMD_OF_FLOAT_AND_DOUBLE

#define METALLOID_SIMD_OF_SCALAR(T)                                                                                  \
  METALLOID_SIMD_FUNCTION(T, min, (T x, T y), { return metalloid::macos::functions::component::min(x, y); })         \
  METALLOID_SIMD_FUNCTION(T, max, (T x, T y), { return metalloid::macos::functions::component::max(x, y); })         \
  METALLOID_SIMD_FUNCTION(T, clamp, (T x, T low, T high),                                                            \
                          { return metalloid::macos::functions::component::clamp(x, low, high); })                   \
  METALLOID_SIMD_FUNCTION(T, mix, (T x, T y, T t), { return metalloid::macos::functions::component::mix(x, y, t); }) \
  METALLOID_SIMD_FUNCTION(T, step, (T edge, T x), { return metalloid::macos::functions::component::step(edge, x); }) \
  METALLOID_SIMD_FUNCTION(T, smoothstep, (T low, T high, T x),                                                       \
                          { return metalloid::macos::functions::component::smoothstep(low, high, x); })              \
  METALLOID_SIMD_FUNCTION(T, sign, (T x), { return metalloid::macos::functions::component::sign(x); })               \
  METALLOID_SIMD_FUNCTION(T, fract, (T x), { return metalloid::macos::functions::component::fract(x); })             \
  METALLOID_SIMD_FUNCTION(T, recip, (T x), { return metalloid::macos::functions::component::recip(x); })             \
  METALLOID_SIMD_FUNCTION(T, rsqrt, (T x), { return metalloid::macos::functions::component::rsqrt(x); })
METALLOID_SIMD_OF_SCALAR(float)
METALLOID_SIMD_OF_SCALAR(double)
#undef METALLOID_SIMD_OF_SCALAR

// The names from before simd_.
#define vector_min simd_min
#define vector_max simd_max
#define vector_clamp simd_clamp
#define vector_abs simd_abs
#define vector_mix simd_mix
#define vector_step simd_step
#define vector_smoothstep simd_smoothstep
#define vector_sign simd_sign
#define vector_fract simd_fract
#define vector_recip simd_recip
#define vector_rsqrt simd_rsqrt
#define vector_reduce_add simd_reduce_add
#define vector_reduce_min simd_reduce_min
#define vector_reduce_max simd_reduce_max
#define vector_any simd_any
#define vector_all simd_all
#define vector_select simd_select
