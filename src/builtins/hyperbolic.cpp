// Hyperbolic functions and their inverses. Near zero, where the exponentials in their definitions cancel, sinh and
// tanh are polynomials; the inverses are logarithms of 1 + something, written so that nothing cancels. Fast variants
// are the precise ones, but for tanh.

#include "builtins/exponential.hpp"
#include "builtins/logarithm.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

// With h = e^|x| / 2, e^-|x| / 2 is 1 / (4 * h).
float sinh(float x) {
  const float size = abs(x);
  const float h = exp_shifted(size, -1);
  const float square = size * size;
  const float tail = polynomial(square, 0x1.756c14p-19f, 0x1.a022bcp-13f, 0x1.1110ep-7f, 0x1.555556p-3f);
  return copysign(select(size < 1.0f, fma(size * square, tail, size), h - 0.25f / h), x);
}
METAL_FAST_AS_PRECISE(sinh)
METAL_HALF_AS(sinh, sinh)

float cosh(float x) {
  const float h = exp_shifted(abs(x), -1);
  return h + 0.25f / h;
}
METAL_FAST_AS_PRECISE(cosh)
METAL_HALF_AS(cosh, cosh)

// With e^(2 * |x|).
METALLOID_INLINE float tanh_of(float x, float power) {
  const float size = abs(x);
  const float square = size * size;
  const float tail =
      polynomial(square, -0x1.82884cp-8f, 0x1.54c3ep-6f, -0x1.b89abcp-5f, 0x1.1109bep-3f, -0x1.55553ep-2f);
  const float far = 1.0f - 2.0f / (power + 1.0f);
  return copysign(select(size < 0.6f, fma(size * square, tail, size), far), x);
}
float tanh(float x) {
  return tanh_of(x, exp_shifted(2.0f * abs(x), 0));
}
float fast_tanh(float x) {
  return tanh_of(x, exp2_short(abs(x) * (2.0f * log2_e)));
}
METAL_HALF_AS(fast_tanh, tanh)

// log(|x| + sqrt(x^2 + 1)), which is log(2 * |x|) where |x| is large.
float asinh(float x) {
  const float size = abs(x);
  const bool large = size >= 0x1p12f;
  const float square = size * size;
  const float less_one = size + square / (1.0f + square_root(1.0f + square));
  const float sum = select(large, size, 1.0f + less_one);
  const float rest = select(large, 0.0f, less_one - (sum - 1.0f));
  const float value = log_of_sum(sum, rest) + select(large, ln_2, 0.0f);
  return copysign(select(size < infinity, value, size), x);
}
METAL_FAST_AS_PRECISE(asinh)
METAL_HALF_AS(asinh, asinh)

// log(x + sqrt(x^2 - 1)), likewise.
float acosh(float x) {
  const bool large = x >= 0x1p12f;
  const float excess = x - 1.0f;
  const float less_one = excess + square_root(fma(excess, excess, 2.0f * excess));
  const float sum = select(large, x, 1.0f + less_one);
  const float rest = select(large, 0.0f, less_one - (sum - 1.0f));
  const float value = log_of_sum(sum, rest) + select(large, ln_2, 0.0f);
  return select(x < 1.0f, not_a_number, select(x < infinity, value, x));
}
METAL_FAST_AS_PRECISE(acosh)
METAL_HALF_AS(acosh, acosh)

// log((1 + |x|) / (1 - |x|)) / 2
float atanh(float x) {
  const float size = abs(x);
  const float value = 0.5f * log_1_plus(2.0f * size / (1.0f - size));
  const float inside = select(size < 1.0f, value, not_a_number);
  return copysign(select(size == 1.0f, infinity, inside), x);
}
METAL_FAST_AS_PRECISE(atanh)
METAL_HALF_AS(atanh, atanh)

}  // namespace metalloid::builtins
