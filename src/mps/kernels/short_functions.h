// Functions of neurons and softmax in as few instructions as processors need that have none for them. e^x is 2^n times a
// polynomial of what rounding to n leaves.
#pragma once

#include "types.h"

// For x <= 0, within 2^-22; 0 where the result is no normal number.
inline float exp_of_negative(float x) {
  constexpr float integers = 0x1.8p23f;  // floats near it are integers, of which the low bits are a count
  const float rounded = fma(x, M_LOG2E_F, integers);
  const float r = fma(x, M_LOG2E_F, integers - rounded);
  float fraction = fma(0x1.5cd77ap-10f, r, 0x1.3cf732p-7f);
  fraction = fma(fraction, r, 0x1.c6b576p-5f);
  fraction = fma(fraction, r, 0x1.ebf99cp-3f);
  fraction = fma(fraction, r, 0x1.62e42ap-1f);
  fraction = fma(fraction, r, 1.0f);
  const float power_of_two = as_type<float>((as_type<uint>(rounded) << 23) + as_type<uint>(1.0f));
  return x < -87.0f ? 0 : fraction * power_of_two;
}

// e^x - 1 for x <= 0: near 0, where that would cancel, the series.
inline float exp_of_negative_minus_1(float x) {
  float series = fma(1.0f / 5040, x, 1.0f / 720);
  series = fma(series, x, 1.0f / 120);
  series = fma(series, x, 1.0f / 24);
  series = fma(series, x, 1.0f / 6);
  series = fma(series, x, 0.5f);
  series = fma(series * x, x, x);
  return x > -0.35f ? series : exp_of_negative(x) - 1;
}
