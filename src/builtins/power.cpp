// Powers, as 2^(y * log2(x)). The error of the exponent is multiplied by up to 128 in the result, so the precise
// variants compute the logarithm and the product in pairs of floats, whose sum has 10 bits more than a float.

#include "builtins/exponential.hpp"
#include "builtins/logarithm.hpp"
#include "builtins/math.hpp"

namespace metalloid::builtins {

namespace {

struct Pair {
  float high;
  float low;
};

// log2(x) of a positive x = 2^exponent * m: with s = (m - 1) / (m + 1), log(m) = 2 * s + s^3 * polynomial(s^2).
METALLOID_INLINE Pair log2_pair(float x) {
  const bool denormal = x < 0x1p-126f;
  const int bits = as_int(select(denormal, x * 0x1p23f, x));
  const int shift = (bits - as_int(0x1.6a09e6p-1f)) >> 23;
  const float exponent = static_cast<float>(shift) - (denormal ? 23.0f : 0.0f);
  const float m = as_float(bits - (shift << 23));

  const float numerator = m - 1.0f;
  const float denominator = m + 1.0f;
  const float lost = numerator - (denominator - 2.0f);
  const float s = numerator / denominator;
  const float s_rest = fma(-s, lost, fma(-s, denominator, numerator)) / denominator;
  const float square = s * s;
  const float tail = polynomial(square, 0x1.f137a8p-3f, 0x1.23d3eep-2f, 0x1.999c26p-2f, 0x1.555554p-1f);
  const float cube = square * s;
  const float cube_rest = fma(fma(s, s, -square), s, fma(square, s, -cube));
  const float rests = fma(cube_rest, tail, 2.0f * fma(square, s_rest, s_rest));
  const Pair natural{2.0f * s, fma(cube, tail, rests)};

  const float product = natural.high * log2_e;
  const float rest = fma(natural.low, log2_e, fma(natural.high, log2_e_rest, fma(natural.high, log2_e, -product)));
  const float sum = product + rest;
  const float high = exponent + sum;
  return {high, (sum - (high - exponent)) + (rest - (sum - product))};
}

// x^y of a positive x. A product beyond the range of exponents is cut off, and then has no low part.
METALLOID_INLINE float power(float x, float y) {
  const Pair logarithm = log2_pair(x);
  const float product = y * logarithm.high;
  const float rest = fma(y, logarithm.low, fma(y, logarithm.high, -product));
  const float exponent = clamp(product, -200.0f, 200.0f);
  const Rounded n = round_scaled(exponent, 1.0f);
  const float fraction = exponent - n.value + select(exponent == product, rest, 0.0f);
  return scale(exp2_fraction(fraction), n.integer);
}

METALLOID_INLINE float power_short(float x, float y) {
  return exp2_short(y * base_2_logarithm(x));
}

// |x|^y where |x| is 0, 1 or infinite.
METALLOID_INLINE float power_of_end(float size, float y, float magnitude) {
  const float end = select((size == 0.0f) == (y < 0.0f), infinity, 0.0f);
  return select(size == 1.0f, 1.0f, select((size == 0.0f) | (size == infinity), end, magnitude));
}

// The rules of pow for signs, zeros, infinities and NaN around |x|^y.
METALLOID_INLINE float power_special(float x, float y, float magnitude) {
  const float size = abs(x);
  const bool integral = trunc(y) == y;
  const bool odd = integral & (trunc(0.5f * y) != 0.5f * y);
  const float positive = power_of_end(size, y, magnitude);
  const bool undefined = ((x < 0.0f) & (size < infinity) & !integral) | is_nan(x, y);
  const float result = select(undefined, not_a_number, select(odd, copysign(positive, x), positive));
  return select((y == 0.0f) | (x == 1.0f), 1.0f, result);
}

// The rules of powr, which is exp(y * log(x)) even where that is not defined.
METALLOID_INLINE float powr_special(float x, float y, float magnitude) {
  const float size = abs(x);
  const float steepness = abs(y);
  const bool no_limit = (steepness == 0.0f) & ((size == 0.0f) | (size == infinity));
  const bool undefined = (x < 0.0f) | no_limit | ((x == 1.0f) & (steepness == infinity)) | is_nan(x, y);
  return select(undefined, not_a_number, power_of_end(size, y, magnitude));
}

}  // namespace

float pow(float x, float y) {
  return power_special(x, y, power(abs(x), y));
}
float fast_pow(float x, float y) {
  return power_special(x, y, power_short(abs(x), y));
}
half pow(half x, half y) {
  return static_cast<half>(fast_pow(x, y));
}

float powr(float x, float y) {
  return powr_special(x, y, power(abs(x), y));
}
float fast_powr(float x, float y) {
  return power_short(x, y);
}
half powr(half x, half y) {
  return static_cast<half>(powr_special(x, y, power_short(abs(static_cast<float>(x)), y)));
}

}  // namespace metalloid::builtins
