// The operations that the bodies of math builtins are made of. Each becomes one or two LLVM instructions.
#pragma once

#define METALLOID_INLINE [[gnu::always_inline]] static inline

namespace metalloid::builtins {

constexpr float infinity = __builtin_inff();
constexpr float not_a_number = __builtin_nanf("");

METALLOID_INLINE int as_int(float x) {
  return __builtin_bit_cast(int, x);
}
METALLOID_INLINE float as_float(int bits) {
  return __builtin_bit_cast(float, bits);
}
METALLOID_INLINE float fma(float a, float b, float c) {
  return __builtin_elementwise_fma(a, b, c);
}
METALLOID_INLINE float abs(float x) {
  return __builtin_elementwise_abs(x);
}
METALLOID_INLINE float copysign(float x, float sign) {
  return __builtin_elementwise_copysign(x, sign);
}
METALLOID_INLINE float trunc(float x) {
  return __builtin_elementwise_trunc(x);
}
METALLOID_INLINE float round_to_even(float x) {
  return __builtin_elementwise_roundeven(x);
}
METALLOID_INLINE float square_root(float x) {
  return __builtin_elementwise_sqrt(x);
}
METALLOID_INLINE bool is_nan(float x) {
  return x != x;
}
METALLOID_INLINE bool is_nan(float x, float y) {
  return __builtin_isunordered(x, y);
}

// A choice between values that are both computed, where `?:` would jump over one of them.
template <class T>
METALLOID_INLINE T select(bool condition, T yes, T no) {
  return condition ? yes : no;
}

// 2^n for -126 <= n <= 127.
METALLOID_INLINE float power_of_two(int n) {
  return as_float((n + 127) << 23);
}

// x between low and high; a NaN stays one.
METALLOID_INLINE float clamp(float x, float low, float high) {
  const float below = x > high ? high : x;
  return below < low ? low : below;
}

// The polynomial of x with these coefficients, the highest power's first.
METALLOID_INLINE float polynomial(float, float c) {
  return c;
}
template <class... Lower>
METALLOID_INLINE float polynomial(float x, float c, float next, Lower... lower) {
  float value = fma(c, x, next);
  ((value = fma(value, x, lower)), ...);
  return value;
}

// An integral float and the same number in two's complement, of which only the low 22 bits and the sign can be
// trusted. Adding 3 * 2^22 leaves a float no bits for a fraction; unlike a conversion this is defined for a NaN.
struct Rounded {
  float value;
  int integer;
};
METALLOID_INLINE Rounded round_scaled(float x, float factor) {
  const float shifted = fma(x, factor, 0x1.8p23f);
  return {shifted - 0x1.8p23f, as_int(shifted) - as_int(0x1.8p23f)};
}

}  // namespace metalloid::builtins
