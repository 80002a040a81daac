// A texel as numbers: its bits taken apart and put together by the table of pixel formats (device/pixel_format.hpp).
//
// Numbers are rounded to nearest even and saturate: 300 written to an R8Uint is 255, 1.5 to an R8Unorm is 1, NaN to
// either is 0. Channels that a format does not have read as 0, and alpha as 1.
#pragma once

#include "builtins/device_memory.hpp"
#include "builtins/math.hpp"
#include "device/pixel_format.hpp"
#include "device/small_float.hpp"

namespace metalloid::builtins {

using device::Numbers;
using device::PixelFormat;

template <class T>
using Color = T __attribute__((ext_vector_type(4)));

// At most 16 bytes; a channel lies within one word.
struct TexelBits {
  unsigned word[4] = {};

  unsigned field(unsigned shift, unsigned width) const {
    return word[shift / 32] >> shift % 32 & (width == 32 ? ~0u : (1u << width) - 1);
  }
  void set_field(unsigned shift, unsigned bits) { word[shift / 32] |= bits << shift % 32; }
};

inline TexelBits load_bits(const METAL_DEVICE char* address, unsigned bytes) {
  TexelBits bits;
  if (bytes == 1) {
    bits.word[0] = *reinterpret_cast<const METAL_DEVICE unsigned char*>(address);
  } else if (bytes == 2) {
    bits.word[0] = *reinterpret_cast<const METAL_DEVICE unsigned short*>(address);
  } else {
    for (unsigned i = 0; i < bytes / 4; ++i) bits.word[i] = reinterpret_cast<const METAL_DEVICE unsigned*>(address)[i];
  }
  return bits;
}

inline void store_bits(METAL_DEVICE char* address, unsigned bytes, const TexelBits& bits) {
  if (bytes == 1) {
    *reinterpret_cast<METAL_DEVICE unsigned char*>(address) = static_cast<unsigned char>(bits.word[0]);
  } else if (bytes == 2) {
    *reinterpret_cast<METAL_DEVICE unsigned short*>(address) = static_cast<unsigned short>(bits.word[0]);
  } else {
    for (unsigned i = 0; i < bytes / 4; ++i) reinterpret_cast<METAL_DEVICE unsigned*>(address)[i] = bits.word[i];
  }
}

// Alpha is never in sRGB.
inline Numbers numbers_of(const PixelFormat& format, unsigned channel) {
  if (channel == 3 && format.numbers == Numbers::srgb) return Numbers::unorm;
  if (channel == 3 && format.numbers == Numbers::extended_range_srgb) return Numbers::extended_range;
  return format.numbers;
}

inline float srgb_to_linear(float value) {
  const float magnitude = __builtin_fabsf(value);
  const float linear = magnitude <= 0.04045f ? magnitude / 12.92f : pow((magnitude + 0.055f) / 1.055f, 2.4f);
  return __builtin_copysignf(linear, value);
}

inline float linear_to_srgb(float value) {
  const float magnitude = __builtin_fabsf(value);
  const float curved = magnitude <= 0.0031308f ? magnitude * 12.92f : 1.055f * pow(magnitude, 1 / 2.4f) - 0.055f;
  return __builtin_copysignf(curved, value);
}

inline float clamped(float value, float least, float most) {
  return value > least ? (value < most ? value : most) : value != value && least < 0 ? 0 : least;
}

inline float largest(unsigned width) {
  return static_cast<float>((1u << width) - 1);
}

inline int sign_extended(unsigned bits, unsigned width) {
  return static_cast<int>(bits << (32 - width)) >> (32 - width);
}

// sRGB is the same format without its gamma, and then the gamma.
inline Numbers without_gamma(Numbers numbers) {
  return numbers == Numbers::srgb                  ? Numbers::unorm
         : numbers == Numbers::extended_range_srgb ? Numbers::extended_range
                                                   : numbers;
}

inline float to_float(Numbers numbers, unsigned bits, unsigned width) {
  float value = 0;
  switch (without_gamma(numbers)) {
    case Numbers::unorm:
      value = static_cast<float>(bits) / largest(width);
      break;
    case Numbers::snorm:
      value = static_cast<float>(sign_extended(bits, width)) / largest(width - 1);
      value = value < -1 ? -1 : value;
      break;
    case Numbers::floating:
      value = width == 32   ? device::float_from_bits(bits)
              : width == 16 ? device::from_half(bits)
                            : device::from_small_float(bits, width - 5);
      break;
    case Numbers::extended_range:
      value = (static_cast<float>(bits) - 384) / 510;
      break;
    case Numbers::unsigned_integer:
      value = static_cast<float>(bits);
      break;
    case Numbers::signed_integer:
      value = static_cast<float>(sign_extended(bits, width));
      break;
    default:
      break;
  }
  return without_gamma(numbers) == numbers ? value : srgb_to_linear(value);
}

inline unsigned from_float(Numbers numbers, float value, unsigned width) {
  if (without_gamma(numbers) != numbers) value = linear_to_srgb(value);
  switch (without_gamma(numbers)) {
    case Numbers::unorm:
      return static_cast<unsigned>(__builtin_roundevenf(clamped(value, 0, 1) * largest(width)));
    case Numbers::snorm: {
      const float scaled = clamped(value, -1, 1) * largest(width - 1);
      return static_cast<unsigned>(static_cast<int>(__builtin_roundevenf(scaled))) & ((1u << width) - 1);
    }
    case Numbers::floating:
      return width == 32   ? device::float_bits(value)
             : width == 16 ? device::to_half(value)
                           : device::to_small_float(value, width - 5, false);
    case Numbers::extended_range: {
      const float scaled = clamped(value, -1, 2) * 510 + 384;
      return static_cast<unsigned>(__builtin_roundevenf(clamped(scaled, 0, largest(width))));
    }
    default:
      return 0;
  }
}

// Nine bits for each of red, green and blue, in units of 2 to the common exponent less 24.
inline float shared_exponent_unit(unsigned exponent) {
  return device::float_from_bits((127 - 24 + exponent) << 23);
}

inline TexelBits encode_shared_exponent(const Color<float>& color) {
  constexpr float most = 65408;
  const Color<float> c = {clamped(color.x, 0, most), clamped(color.y, 0, most), clamped(color.z, 0, most), 0};
  const float top = c.x > c.y ? (c.x > c.z ? c.x : c.z) : (c.y > c.z ? c.y : c.z);
  const int power = static_cast<int>(device::float_bits(top) >> 23) - 127;
  unsigned exponent = power < -16 ? 0 : static_cast<unsigned>(power + 16);
  if (__builtin_roundevenf(top / shared_exponent_unit(exponent)) > 511) ++exponent;
  const float unit = shared_exponent_unit(exponent);
  TexelBits bits;
  for (unsigned i = 0; i < 3; ++i) bits.set_field(9 * i, static_cast<unsigned>(__builtin_roundevenf(c[i] / unit)));
  bits.set_field(27, exponent);
  return bits;
}

// Integers pass through 64 bits, which hold every element and every channel.
inline long long limited(long long value, long long least, long long most) {
  return value < least ? least : value > most ? most : value;
}

inline long long to_integer(float value) {
  return static_cast<long long>(clamped(value, -4294967296.0f, 4294967296.0f));
}
inline long long to_integer(int value) {
  return value;
}
inline long long to_integer(unsigned value) {
  return value;
}
inline long long to_integer(unsigned long long value) {
  return value >> 63 != 0 ? 0x7FFFFFFFFFFFFFFF : static_cast<long long>(value);
}

inline unsigned from_integer(Numbers numbers, long long value, unsigned width) {
  if (numbers == Numbers::unsigned_integer) return static_cast<unsigned>(limited(value, 0, (1ll << width) - 1));
  const long long most = (1ll << (width - 1)) - 1;
  const unsigned mask = static_cast<unsigned>((1ll << width) - 1);
  return static_cast<unsigned>(limited(value, -most - 1, most)) & mask;
}

template <class T>
T channel_of(const PixelFormat& format, const TexelBits& texel, unsigned channel) {
  const unsigned width = format.width[channel];
  if (width == 0) return channel == 3;
  const unsigned bits = texel.field(format.shift[channel], width);
  const Numbers numbers = numbers_of(format, channel);
  if constexpr (__is_same(T, float)) {
    if (numbers == Numbers::shared_exponent) return static_cast<float>(bits) * shared_exponent_unit(texel.field(27, 5));
    return to_float(numbers, bits, width);
  } else {
    if (numbers == Numbers::signed_integer) return static_cast<T>(sign_extended(bits, width));
    return numbers == Numbers::unsigned_integer ? static_cast<T>(bits) : 0;
  }
}

template <class T>
Color<T> decode(const PixelFormat& format, const TexelBits& texel) {
  return Color<T>{channel_of<T>(format, texel, 0), channel_of<T>(format, texel, 1), channel_of<T>(format, texel, 2),
                  channel_of<T>(format, texel, 3)};
}

// 64-bit elements are the two channels of RG32Uint seen as one.
template <>
inline Color<unsigned long long> decode(const PixelFormat& format, const TexelBits& texel) {
  if (format.width[0] == 32 && format.width[1] == 32)
    return {texel.word[0] | static_cast<unsigned long long>(texel.word[1]) << 32, 0, 0, 1};
  const Color<unsigned> narrow = decode<unsigned>(format, texel);
  return {narrow.x, narrow.y, narrow.z, narrow.w};
}

template <class T>
TexelBits encode(const PixelFormat& format, const Color<T>& color) {
  TexelBits texel;
  if (format.numbers == Numbers::shared_exponent)
    return encode_shared_exponent(Color<float>{float(color.x), float(color.y), float(color.z), 0});
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned width = format.width[i];
    if (width == 0) continue;
    const unsigned bits = format.integer() ? from_integer(format.numbers, to_integer(color[i]), width)
                                           : from_float(numbers_of(format, i), static_cast<float>(color[i]), width);
    texel.set_field(format.shift[i], bits);
  }
  return texel;
}

template <>
inline TexelBits encode(const PixelFormat& format, const Color<unsigned long long>& color) {
  if (format.width[0] == 32 && format.width[1] == 32)
    return {{static_cast<unsigned>(color.x), static_cast<unsigned>(color.x >> 32)}};
  return encode<unsigned>(format, Color<unsigned>{static_cast<unsigned>(color.x), static_cast<unsigned>(color.y),
                                                  static_cast<unsigned>(color.z), static_cast<unsigned>(color.w)});
}

}  // namespace metalloid::builtins
