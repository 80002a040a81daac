// Conversions of half and bfloat that code generation calls where a processor has no instruction for them, under the
// names of the compilers' own libraries, which are not there to be called from a kernel. A half or bfloat is passed
// and returned as C passes a half.
#include <bit>
#include <cmath>
#include <cstdint>

#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu {

namespace {

using Half = _Float16;

Half from_bits(uint16_t bits) {
  return std::bit_cast<Half>(bits);
}

// Rounds to a format with 16 bits, of which `mantissa` are stored, to nearest, ties to even.
template <int mantissa>
uint16_t round_to_16_bits(double value) {
  constexpr int exponent_bits = 15 - mantissa, bias = (1 << (exponent_bits - 1)) - 1;
  constexpr uint16_t infinity = ((1 << exponent_bits) - 1) << mantissa;
  const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (std::isnan(value)) return sign | infinity | 1 << (mantissa - 1);
  if (size == 0) return sign;
  const int exponent = std::isinf(value) ? bias + 1 : std::max(std::ilogb(size), 1 - bias);
  if (exponent > bias) return sign | infinity;
  // In units of the last place, the exponent's field is what carries beyond the mantissa; subnormals need no case.
  const double units = std::nearbyint(std::ldexp(size, mantissa - exponent));
  const auto field = static_cast<uint32_t>(exponent + bias - 1) << mantissa;
  const uint32_t bits = field + static_cast<uint32_t>(units);
  return static_cast<uint16_t>(sign | std::min<uint32_t>(bits, infinity));
}

float half_to_float(Half value) {
  const auto bits = std::bit_cast<uint16_t>(value);
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  float size;
  if (exponent == 31)
    size = mantissa ? std::bit_cast<float>(0x7fc00000 | mantissa << 13) : INFINITY;
  else
    size = exponent ? std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25)
                    : std::ldexp(static_cast<float>(mantissa), -24);
  return bits & 0x8000 ? -size : size;
}

double half_to_double(Half value) {
  return half_to_float(value);
}

Half float_to_half(float value) {
  return from_bits(round_to_16_bits<10>(value));
}

Half double_to_half(double value) {
  return from_bits(round_to_16_bits<10>(value));
}

Half float_to_bfloat(float value) {
  return from_bits(round_to_16_bits<7>(value));
}

Half double_to_bfloat(double value) {
  return from_bits(round_to_16_bits<7>(value));
}

float bfloat_to_float(Half value) {
  return std::bit_cast<float>(uint32_t{std::bit_cast<uint16_t>(value)} << 16);
}

}  // namespace

void add_number_conversions(RuntimeSymbols& symbols) {
  symbols.add("__extendhfsf2", half_to_float);
  symbols.add("__gnu_h2f_ieee", half_to_float);
  symbols.add("__extendhfdf2", half_to_double);
  symbols.add("__truncsfhf2", float_to_half);
  symbols.add("__gnu_f2h_ieee", float_to_half);
  symbols.add("__truncdfhf2", double_to_half);
  symbols.add("__truncsfbf2", float_to_bfloat);
  symbols.add("__truncdfbf2", double_to_bfloat);
  symbols.add("__extendbfsf2", bfloat_to_float);
}

}  // namespace metalloid::cpu
