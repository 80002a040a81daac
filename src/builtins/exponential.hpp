// What functions built on the exponential share: e^x and 2^x are 2^n times a polynomial of what rounding to n leaves.
#pragma once

#include "builtins/constants.hpp"
#include "builtins/float_operations.hpp"

namespace metalloid::builtins {

// x * 2^n for -252 <= n <= 254, rounded once even where the result is denormal or overflows: an intrinsic, because some
// processors have an instruction for it.
METALLOID_INLINE float scale(float x, int n) {
  return __builtin_elementwise_ldexp(x, n);
}

// 2^r for |r| <= 1/2, within 2^-26.
METALLOID_INLINE float exp2_fraction(float r) {
  return polynomial(r, 0x1.18725p-13f, 0x1.5ef352p-10f, 0x1.3b676ap-7f, 0x1.c6af9ep-5f, 0x1.ebfb94p-3f, 0x1.62e43p-1f,
                    1.0f);
}

// e^x * 2^shift, for a shift of 0 or -1. x is first brought to where the result is just beyond a float's range.
METALLOID_INLINE float exp_shifted(float x, int shift) {
  x = clamp(x, -105.0f, 90.0f);
  const Rounded n = round_scaled(x, log2_e);
  const float r = fma(n.value, -ln_2_rest, fma(n.value, -ln_2, x));
  const float fraction =
      polynomial(r, 0x1.6ad12p-10f, 0x1.123f2ep-7f, 0x1.55584ep-5f, 0x1.55548ap-3f, 0x1.fffffcp-2f, 1.0f, 1.0f);
  return scale(fraction, n.integer + shift);
}

// 2^x as a device has it, within 3 ulp: an intrinsic, likewise.
METALLOID_INLINE float exp2_short(float x) {
  return __builtin_elementwise_exp2(x);
}

}  // namespace metalloid::builtins
