// Functions of neurons in as few instructions as processors need that have none for them.
#pragma once

#include "types.h"

// With these coefficients, the highest power's first.
inline float polynomial(float, float c) { return c; }
template <typename... Lower>
float polynomial(float x, float c, float next, Lower... lower) {
  return polynomial(x, fma(c, x, next), lower...);
}

// Between -limit and limit; a NaN stays one.
inline float within(float x, float limit) {
  const float y = x > limit ? limit : x;
  return y < -limit ? -limit : y;
}

// e^x = 2^n times a polynomial of what rounding to n leaves.
struct Power {
  float rest, power_of_two;

  // x is from -88.1 to 88.8, where the power of two becomes 0 and infinite. Where processors have no fma, what rounding
  // leaves would be nothing to a compiler that may put sums in another order.
  explicit Power(float x) {
#pragma clang fp reassociate(off)
    constexpr float integers = 0x1.8p23f + 127;  // floats near it are integers, of which the low bits are an exponent
    const float rounded = fma(x, M_LOG2E_F, integers);
    rest = fma(x, M_LOG2E_F, integers - rounded);
    power_of_two = as_type<float>(as_type<uint>(rounded) << 23);
  }
};

// e^x - 1 for x <= 0. 1 is taken from the power of two, which is 1 itself where that would cancel.
inline float exp_of_negative_minus_1(float x) {
  const Power power(x < -87.0f ? -87.0f : x);
  const float fraction = power.rest * polynomial(power.rest, 0x1.4309p-13f, 0x1.5f07b4p-10f, 0x1.3b2bap-7f,
                                                 0x1.c6af6ep-5f, 0x1.ebfbdep-3f, 0x1.62e43p-1f);
  return fma(fraction, power.power_of_two, power.power_of_two - 1);
}

// a * tanh(x) within 5 units in the last place: a quotient of polynomials, to where tanh is 1. The upper one has a in it,
// which many x have in common.
inline float scaled_hyperbolic_tangent(float x, float a) {
  const float square = x * x, s = square > 62.41f ? 62.41f : square;
  const float above = polynomial(s, a * 0x1.090bfcp-26f, a * 0x1.717c78p-16f, a * 0x1.d51abep-9f, a * 0x1.1377f4p-3f, a);
  const float below = polynomial(s, 0x1.cda38ap-21f, 0x1.66fe86p-12f, 0x1.ad221p-6f, 0x1.df114cp-2f, 1.0f);
  return within(x * above / below, abs(a));
}

// The part of a normal distribution that is below x, (1 + erf(x / sqrt(2))) / 2, within 2^-22: likewise.
inline float normal_distribution(float x) {
  const float square = x * x, s = square > 28.09f ? 28.09f : square;
  const float above = polynomial(s, 0x1.a469e8p-18f, 0x1.6635cp-12f, 0x1.75837p-8f, 0x1.aa8e7ap-5f, 0x1.988434p-2f);
  const float below =
      polynomial(s, 0x1.1c70f6p-21f, 0x1.00f72cp-13f, 0x1.77514p-9f, 0x1.3e174p-5f, 0x1.304fbep-2f, 1.0f);
  return 0.5f + within(x * above / below, 0.5f);
}
