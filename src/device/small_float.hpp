// Floating-point numbers of fewer bits than float: half, bfloat, and the 10- and 11-bit numbers without a sign of
// packed pixel formats, which have five bits of exponent as half has. Written in integer arithmetic, so that it gives
// the same bits in a constant expression, on every host and on every device; but where code is compiled for processors
// that convert halves themselves, they do, and make signalling NaNs quiet. Compiled for devices too, hence no library
// types.
#pragma once

namespace metalloid::device {

constexpr unsigned float_bits(float value) {
  return __builtin_bit_cast(unsigned, value);
}
constexpr float float_from_bits(unsigned bits) {
  return __builtin_bit_cast(float, bits);
}

// The number with the given bits: sign (if any), five of exponent, `mantissa` of mantissa.
constexpr float from_small_float(unsigned bits, unsigned mantissa) {
  const unsigned sign = (bits >> (mantissa + 5) & 1) << 31;
  const unsigned exponent = bits >> mantissa & 31;
  const unsigned fraction = bits & ((1u << mantissa) - 1);
  if (exponent == 31) return float_from_bits(sign | 0x7F800000 | fraction << (23 - mantissa));
  if (exponent != 0) return float_from_bits(sign | (exponent + 112) << 23 | fraction << (23 - mantissa));
  const float unit = float_from_bits((127 - 14 - mantissa) << 23);
  return float_from_bits(sign | float_bits(float(fraction) * unit));
}

// The nearest such number, ties to even. What is too large is infinite; without a sign, what is negative is 0.
constexpr unsigned to_small_float(float value, unsigned mantissa, bool has_sign) {
  const unsigned bits = float_bits(value), magnitude = bits & 0x7FFFFFFF;
  const unsigned sign = bits >> 31 << (mantissa + 5), infinity = 31u << mantissa;
  if (magnitude > 0x7F800000) return (has_sign ? sign : 0) | infinity | 1u << (mantissa - 1);
  if (sign != 0 && !has_sign) return 0;
  const unsigned exponent = magnitude >> 23;
  if (exponent < 112 - mantissa) return sign;
  // The number is `significand` units of its last place; a shift rounds it to units of the small number's.
  const bool normal = exponent > 112;
  const unsigned significand = normal ? magnitude - (112u << 23) : (magnitude & 0x7FFFFF) | 0x800000;
  const unsigned shift = 23 - mantissa + (normal ? 0 : 113 - exponent);
  const unsigned rest = significand & ((1u << shift) - 1), half = 1u << (shift - 1);
  unsigned rounded = significand >> shift;
  if (rest > half || (rest == half && (rounded & 1) != 0)) ++rounded;
  return sign | (rounded < infinity ? rounded : infinity);
}

constexpr float from_half(unsigned bits) {
#ifdef __F16C__
  if (!__builtin_is_constant_evaluated())
    return static_cast<float>(__builtin_bit_cast(_Float16, static_cast<unsigned short>(bits)));
#endif
  return from_small_float(bits, 10);
}
constexpr unsigned to_half(float value) {
#ifdef __F16C__
  if (!__builtin_is_constant_evaluated()) {
    const unsigned bits = __builtin_bit_cast(unsigned short, static_cast<_Float16>(value));
    return value == value ? bits : (bits & 0x8000) | 0x7E00;
  }
#endif
  return to_small_float(value, 10, true);
}

// bfloat is the upper half of a float: rounded to nearest, ties to even; a NaN stays one.
constexpr float from_bfloat(unsigned bits) {
  return float_from_bits(bits << 16);
}
constexpr unsigned to_bfloat(float value) {
  const unsigned bits = float_bits(value);
  const bool is_nan = (bits & 0x7FFFFFFF) > 0x7F800000;
  return (is_nan ? bits | 0x400000 : bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

}  // namespace metalloid::device
