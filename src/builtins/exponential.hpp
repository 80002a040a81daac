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

// 2^r for |r| <= 1/2, within 2^-26; and with a shorter polynomial, within 2^-23.
METALLOID_INLINE float exp2_fraction(float r) {
  return polynomial(r, 0x1.18725p-13f, 0x1.5ef352p-10f, 0x1.3b676ap-7f, 0x1.c6af9ep-5f, 0x1.ebfb94p-3f, 0x1.62e43p-1f,
                    1.0f);
}
METALLOID_INLINE float exp2_fraction_fast(float r) {
  return polynomial(r, 0x1.5cd77ap-10f, 0x1.3cf732p-7f, 0x1.c6b576p-5f, 0x1.ebf99cp-3f, 0x1.62e42ap-1f, 1.0f);
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

// 2^(x * factor)
METALLOID_INLINE float exp2_short(float x, float factor = 1.0f) {
  x = clamp(x, -151.0f / factor, 129.0f / factor);
  const Rounded n = round_scaled(x, factor);
  return scale(exp2_fraction_fast(fma(x, factor, -n.value)), n.integer);
}

}  // namespace metalloid::builtins
