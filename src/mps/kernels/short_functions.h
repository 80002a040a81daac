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

// e^x - 1 for x <= 0. e^x is 2^n times a polynomial of what rounding to n leaves; 1 is taken from the power of two, which
// is 1 itself where that would cancel.
inline float exp_of_negative_minus_1(float x) {
  constexpr float integers = 0x1.8p23f;  // floats near it are integers, of which the low bits are a count
  const float y = x < -87.0f ? -87.0f : x;
  const float rounded = fma(y, M_LOG2E_F, integers);
  const float rest = fma(y, M_LOG2E_F, integers - rounded);
  const float power_of_two = as_type<float>((as_type<uint>(rounded) << 23) + as_type<uint>(1.0f));
  const float fraction = rest * polynomial(rest, 0x1.4309p-13f, 0x1.5f07b4p-10f, 0x1.3b2bap-7f, 0x1.c6af6ep-5f,
                                           0x1.ebfbdep-3f, 0x1.62e43p-1f);
  return fma(fraction, power_of_two, power_of_two - 1);
}

// tanh within 5 units in the last place: a quotient of polynomials, to where it is 1.
inline float hyperbolic_tangent(float x) {
  const float square = x * x, s = square > 62.41f ? 62.41f : square;
  const float above = polynomial(s, 0x1.090bfcp-26f, 0x1.717c78p-16f, 0x1.d51abep-9f, 0x1.1377f4p-3f, 1.0f);
  const float below = polynomial(s, 0x1.cda38ap-21f, 0x1.66fe86p-12f, 0x1.ad221p-6f, 0x1.df114cp-2f, 1.0f);
  return within(x * above / below, 1.0f);
}

// The part of a normal distribution that is below x, (1 + erf(x / sqrt(2))) / 2, within 2^-22: likewise.
inline float normal_distribution(float x) {
  const float square = x * x, s = square > 29.3764f ? 29.3764f : square;
  const float above = polynomial(s, 0x1.92fb3ap-26f, 0x1.a80976p-18f, 0x1.529324p-13f, 0x1.2fa578p-8f, 0x1.0f434ap-5f,
                                 0x1.988452p-2f);
  const float below = polynomial(s, 0x1.464c42p-20f, 0x1.2b4fe2p-14f, 0x1.e31a8cp-10f, 0x1.ce7422p-6f, 0x1.ff525ap-3f,
                                 1.0f);
  return 0.5f + within(x * above / below, 0.5f);
}
