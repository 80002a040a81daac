// What functions built on the logarithm share: x = 2^exponent * (1 + fraction), with a fraction in [-1/3, 1/3], and
// log(1 + fraction) = fraction + tail(fraction). Near x = 1 the exponent is 0 and the fraction exact, so that results
// are good to the last bits where the logarithm vanishes.
#pragma once

#include "builtins/constants.hpp"
#include "builtins/float_operations.hpp"

namespace metalloid::builtins {

struct Split {
  float exponent;
  float fraction;
};

// Of a positive x. Denormals are made normal first.
METALLOID_INLINE Split split(float x) {
  const bool denormal = x < 0x1p-126f;
  const int bits = as_int(select(denormal, x * 0x1p23f, x));
  const int exponent = (bits - as_int(0x1.555556p-1f)) >> 23;
  return {static_cast<float>(exponent) - (denormal ? 23.0f : 0.0f), as_float(bits - (exponent << 23)) - 1.0f};
}

METALLOID_INLINE float log_tail(float f) {
  return f * f *
         polynomial(f, -0x1.ff45bp-4f, 0x1.1ffe78p-3f, -0x1.f6b87p-4f, 0x1.1e825cp-3f, -0x1.557e2ep-3f, 0x1.99d58ap-3f,
                    -0x1.ffff94p-3f, 0x1.5554fap-2f, -0.5f);
}

// The natural logarithm of sum + rest, where sum >= 1/2 is finite and rest is what rounding lost of it.
METALLOID_INLINE float log_of_sum(float sum, float rest) {
  const int exponent = (as_int(sum) - as_int(0x1.555556p-1f)) >> 23;
  const float mantissa = as_float(as_int(sum) - (exponent << 23));
  const float fraction = fma(0.5f * rest, power_of_two(1 - exponent), mantissa - 1.0f);
  return fma(static_cast<float>(exponent), ln_2, fraction + log_tail(fraction));
}

// log(1 + x) for 0 <= x < 2^126.
METALLOID_INLINE float log_1_plus(float x) {
  const float sum = 1.0f + x;
  return log_of_sum(sum, x - (sum - 1.0f));
}

// A logarithm computed as if x were positive and finite, with the right result where it is not.
METALLOID_INLINE float log_special(float x, float result) {
  const float beyond = select(x == 0.0f, -infinity, not_a_number);
  const float positive = select(x < infinity, result, infinity);
  return select(x > 0.0f, positive, beyond);
}

METALLOID_INLINE float base_2_logarithm(float x) {
  const auto [exponent, fraction] = split(x);
  const float rest = fma(fraction, log2_e_rest, log_tail(fraction) * log2_e);
  return log_special(x, exponent + fma(fraction, log2_e, rest));
}

}  // namespace metalloid::builtins
