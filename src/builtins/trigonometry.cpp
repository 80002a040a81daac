// Sine, cosine and tangent, of x and of pi * x.
//
// Fast variants do without the reduction of large angles: up to |x| = 2^17 the error of sine and cosine is below 2^-20
// and that of the tangent a few ulp; beyond, results are some sine, cosine and tangent. Sine and cosine are one
// polynomial, of an angle reduced to half a turn.

#include "builtins/angle.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

namespace {

// (-1)^n * sin(x - multiple * pi), multiple being n for the sine and n - 1/2 for the cosine.
METALLOID_INLINE float sin_of_half_turn(float x, float multiple, int n) {
  const float r = fma(-multiple, pi_middle, fma(-multiple, pi_high, x));
  const float square = r * r;
  const float tail = polynomial(square, 0x1.5dc754p-19f, -0x1.9f70e2p-13f, 0x1.110edap-7f, -0x1.55554cp-3f);
  const float value = copysign(fma(r * square, tail, r), r);
  return flip_sign(clamp(value, -1.0f, 1.0f), n & 1);
}

// pi * x as an angle: x = n / 2 + fraction, where both are exact.
METALLOID_INLINE Angle reduce_half_turns(float x) {
  const float period = x - 2.0f * round_to_even(0.5f * x);
  const Rounded n = round_scaled(period, 2.0f);
  return {times_pi(fma(n.value, -0.5f, period)), n.integer};
}

// Zeros of the sine have the sign of x, those of the cosine are positive; those and the poles of the tangent follow.
METALLOID_INLINE float sin_of_half_turns(float x) {
  const float value = sin_of(reduce_half_turns(x));
  return select(value == 0.0f, copysign(value, x), value);
}
METALLOID_INLINE float cos_of_half_turns(float x) {
  return cos_of(reduce_half_turns(x)) + 0.0f;
}
METALLOID_INLINE float tan_of_half_turns(float x) {
  return sin_of_half_turns(x) / cos_of_half_turns(x);
}

}  // namespace

float sin(float x) {
  return sin_of(reduce(x));
}
float fast_sin(float x) {
  const Rounded n = round_scaled(x, inverse_pi);
  return sin_of_half_turn(x, n.value, n.integer);
}
half sin(half x) {
  return static_cast<half>(sin_of(reduce_small(x)));
}

float cos(float x) {
  return cos_of(reduce(x));
}
float fast_cos(float x) {
  const Rounded n = round_scaled(abs(x) + half_pi, inverse_pi);
  return sin_of_half_turn(abs(x), n.value - 0.5f, n.integer);
}
half cos(half x) {
  return static_cast<half>(cos_of(reduce_small(x)));
}

float tan(float x) {
  return tan_of(reduce(x));
}
float fast_tan(float x) {
  const Angle angle = reduce_small(x);
  return tan_of({clamp(angle.r, -0.8f, 0.8f), angle.quadrant});
}
half tan(half x) {
  return static_cast<half>(tan_of(reduce_small(x)));
}

float sinpi(float x) {
  return sin_of_half_turns(x);
}
METAL_FAST_AS_PRECISE(sinpi)
METAL_HALF_AS(sinpi, sinpi)

float cospi(float x) {
  return cos_of_half_turns(x);
}
METAL_FAST_AS_PRECISE(cospi)
METAL_HALF_AS(cospi, cospi)

float tanpi(float x) {
  return tan_of_half_turns(x);
}
METAL_FAST_AS_PRECISE(tanpi)
METAL_HALF_AS(tanpi, tanpi)

}  // namespace metalloid::builtins
