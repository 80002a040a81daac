// Angles reduced to a quadrant and what remains in it: x = quadrant * pi/2 + r with |r| <= pi/4, or a little more. Of
// the quadrant only the low two bits count.
#pragma once

#include "builtins/constants.hpp"
#include "builtins/float_operations.hpp"

namespace metalloid::builtins {

struct Angle {
  float r;
  int quadrant;
};

// For |x| < 2^17. The product with the first part of pi is exact, and so is what it leaves of x.
METALLOID_INLINE Angle reduce_small(float x) {
  const Rounded n = round_scaled(x, 2.0f * inverse_pi);
  const float half = -0.5f * n.value;
  return {fma(half, pi_low, fma(half, pi_middle, fma(half, pi_high, x))), n.integer};
}

// x * pi, rounded little worse than once.
METALLOID_INLINE float times_pi(float x) {
  return fma(x, pi_high, x * pi_middle);
}

// The method of Payne and Hanek, for 2^17 <= |x| < infinity: x is an integer of 24 bits times 2^k, and of 2/pi only
// those bits matter that neither make multiples of 4 with it nor lie below what the result can show: 96 of them.
METALLOID_INLINE Angle reduce_large(float x) {
  using uint = unsigned int;
  const uint bits = static_cast<uint>(as_int(x));
  const uint mantissa = (bits & 0x7fffff) | 0x800000;
  const uint skipped = (bits >> 23 & 0xff) - 127 + 7;  // bits of 2/pi, counted from 32 before its point
  const uint words = skipped >> 5;
  const uint shift = skipped & 31;
  static constexpr uint inverse[8] = {0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                      0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  const uint w0 = inverse[words], w1 = inverse[words + 1], w2 = inverse[words + 2], w3 = inverse[words + 3];
  const uint a = __builtin_elementwise_fshl(w0, w1, shift);
  const uint b = __builtin_elementwise_fshl(w1, w2, shift);
  const uint c = __builtin_elementwise_fshl(w2, w3, shift);

  // The product modulo 2^96, without its lowest word; its highest two bits are the quadrant.
  using ulong = unsigned long;
  const ulong lower = static_cast<ulong>(mantissa) * b + (static_cast<ulong>(mantissa) * c >> 32);
  const uint upper = mantissa * a + static_cast<uint>(lower >> 32);
  const uint quadrant = (upper + 0x20000000) >> 30;
  const int fraction = static_cast<int>(upper - (quadrant << 30));
  const int below = static_cast<int>(static_cast<uint>(lower) >> 8);
  const float turn = fma(static_cast<float>(below), 0x1p-54f, static_cast<float>(fraction) * 0x1p-30f);
  const float r = 0.5f * times_pi(turn);
  const int turns = static_cast<int>(quadrant);
  return {select(x < 0.0f, -r, r), select(x < 0.0f, -turns, turns)};
}

METALLOID_INLINE Angle reduce(float x) {
  Angle angle = reduce_small(x);
  if (abs(x) >= 0x1p17f) [[unlikely]]
    angle = reduce_large(x);
  angle.r = select(abs(x) < infinity, angle.r, not_a_number);
  return angle;
}

// The sum of a zero and its opposite would be +0: the sign is that of r.
METALLOID_INLINE float sin_in_quadrant(float r) {
  const float square = r * r;
  return copysign(fma(r * square, polynomial(square, -0x1.991aeap-13f, 0x1.1106c4p-7f, -0x1.555544p-3f), r), r);
}

METALLOID_INLINE float cos_in_quadrant(float r) {
  const float square = r * r;
  const float tail = polynomial(square, 0x1.99de6ap-16f, -0x1.6c0c14p-10f, 0x1.55554ap-5f);
  return fma(square * square, tail, fma(square, -0.5f, 1.0f));
}

METALLOID_INLINE float flip_sign(float x, bool flip) {
  return as_float(as_int(x) ^ (flip ? 1 << 31 : 0));
}

METALLOID_INLINE float sin_of(Angle angle) {
  const float value = select(angle.quadrant & 1, cos_in_quadrant(angle.r), sin_in_quadrant(angle.r));
  return flip_sign(value, angle.quadrant & 2);
}

METALLOID_INLINE float cos_of(Angle angle) {
  return sin_of({angle.r, angle.quadrant + 1});
}

METALLOID_INLINE float tan_of(Angle angle) {
  const float sine = sin_in_quadrant(angle.r);
  const float cosine = cos_in_quadrant(angle.r);
  const bool odd = angle.quadrant & 1;
  return flip_sign(select(odd, cosine, sine) / select(odd, sine, cosine), odd);
}

}  // namespace metalloid::builtins
