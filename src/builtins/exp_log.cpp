// Exponentials and logarithms. Fast exponentials multiply into the base-2 one, which costs them accuracy where |x| is
// large; half-precision ones can afford that. Fast logarithms are the precise ones, which are hardly slower.

#include "builtins/exponential.hpp"
#include "builtins/logarithm.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

float exp(float x) {
  return exp_shifted(x, 0);
}
float fast_exp(float x) {
  return exp2_short(x * log2_e);
}
METAL_HALF_AS(fast_exp, exp)

float exp2(float x) {
  x = clamp(x, -151.0f, 129.0f);
  const Rounded n = round_scaled(x, 1.0f);
  return scale(exp2_fraction(x - n.value), n.integer);
}
float fast_exp2(float x) {
  return exp2_short(x);
}
METAL_HALF_AS(fast_exp2, exp2)

float exp10(float x) {
  x = clamp(x, -46.0f, 39.0f);
  const Rounded n = round_scaled(x, log2_10);
  const float r = fma(n.value, -log10_2_rest, fma(n.value, -log10_2, x));
  const float fraction = polynomial(r, 0x1.83395cp-3f, 0x1.156126p-1f, 0x1.2c0078p+0f, 0x1.046fa4p+1f, 0x1.535224p+1f,
                                    0x1.26bb1cp+1f, 1.0f);
  return scale(fraction, n.integer);
}
float fast_exp10(float x) {
  return exp2_short(x * log2_10);
}
METAL_HALF_AS(fast_exp10, exp10)

float log(float x) {
  const auto [exponent, fraction] = split(x);
  return log_special(x, fma(exponent, ln_2, fraction + log_tail(fraction)));
}
METAL_FAST_AS_PRECISE(log)
METAL_HALF_AS(log, log)

float log2(float x) {
  return base_2_logarithm(x);
}
METAL_FAST_AS_PRECISE(log2)
METAL_HALF_AS(log2, log2)

float log10(float x) {
  const auto [exponent, fraction] = split(x);
  const float rest = fma(fraction, log10_e_rest, log_tail(fraction) * log10_e);
  const float mantissa = fma(fraction, log10_e, rest);
  return log_special(x, fma(exponent, log10_2, fma(exponent, log10_2_rest, mantissa)));
}
METAL_FAST_AS_PRECISE(log10)
METAL_HALF_AS(log10, log10)

}  // namespace metalloid::builtins
