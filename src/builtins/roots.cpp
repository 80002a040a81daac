// Division, square roots and remainders. The first two are instructions everywhere.

#include "builtins/exponential.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

float divide(float x, float y) {
  return x / y;
}
float fast_divide(float x, float y) {
  return x / y;
}
half divide(half x, half y) {
  return static_cast<half>(static_cast<float>(x) / static_cast<float>(y));
}

float sqrt(float x) {
  return square_root(x);
}
float fast_sqrt(float x) {
  return square_root(x);
}
half sqrt(half x) {
  return static_cast<half>(square_root(x));
}

// A step of Halley's method, with the residual 1 - x * y^2 of the first guess computed almost exactly, rounds
// correctly; one of Newton's would miss by 2^-49 for x = 0x1.13e07p+1. Where there is no residual (0, infinity,
// negative and NaN operands) the guess is the result.
float rsqrt(float x) {
  const bool denormal = x < 0x1p-126f;
  const float normal = select(denormal, x * 0x1p24f, x);
  const float guess = 1.0f / square_root(normal);
  const float product = normal * guess;
  const float lost = fma(normal, guess, -product);
  const float residual = fma(-lost, guess, fma(-product, guess, 1.0f));
  const float step = fma(0.375f * residual, residual, 0.5f * residual);
  const float root = select(is_nan(residual), guess, fma(guess, step, guess));
  return select(denormal, root * 0x1p12f, root);
}
float fast_rsqrt(float x) {
  return 1.0f / square_root(x);
}
METAL_HALF_AS(rsqrt, rsqrt)

// The exponent of a positive number, counted from 2^-127 as in its bits; denormals go on below.
METALLOID_INLINE int exponent_of(float x) {
  const bool denormal = x < 0x1p-126f;
  return (as_int(select(denormal, x * 0x1p23f, x)) >> 23) - (denormal ? 23 : 0);
}

// Takes multiples of y off |x| from the highest bits down, up to 23 bits of the quotient at a time. The difference is
// exact, being smaller than the multiple and no finer. The quotient may be one too many, which is then given back.
float fmod(float x, float y) {
  const float divisor = abs(y);
  const bool defined = (abs(x) < infinity) & (divisor > 0.0f);
  float rest = select(defined, abs(x), not_a_number);
  while (rest >= divisor) {
    const int distance = exponent_of(rest) - exponent_of(divisor) - 22;
    const float multiple = scale(divisor, select(distance > 0, distance, 0));
    const float quotient = trunc(rest / multiple);
    const float difference = fma(-quotient, multiple, rest);
    rest = select(difference < 0.0f, difference + multiple, difference);
  }
  return copysign(rest, x);
}
half fmod(half x, half y) {
  return static_cast<half>(fmod(static_cast<float>(x), static_cast<float>(y)));
}

}  // namespace metalloid::builtins
