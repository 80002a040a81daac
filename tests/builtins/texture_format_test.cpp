// Every pixel format: that its bits are where Metal says, that its numbers are right, and that what is read can be
// written back.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "invoke.hpp"
#include "test_texture.hpp"

namespace metalloid::builtins {
namespace {

using device::Numbers;
using device::pixel_format;
using device::PixelFormat;

Float4 read(TestTexture& texture) {
  return invoke<Float4>("metal.texture_2d_read.f32", texture.handle(), 0u, 0u, 0u, 0u, 0u);
}
template <class Color>
void write(TestTexture& texture, const char* type, const Color& color) {
  invoke<char>(std::string("metal.texture_2d_write.") + type, texture.handle(), color, 0u, 0u, 0u, 0u, 0u);
}

using Bits = std::array<uint32_t, 4>;

void set_bits(TestTexture& texture, const Bits& bits) {
  std::memcpy(texture.texel(0), bits.data(), texture.description().bytes_per_texel);
}
Bits bits_of(TestTexture& texture) {
  Bits bits = {};
  std::memcpy(bits.data(), texture.texel(0), texture.description().bytes_per_texel);
  return bits;
}

TEST(TextureFormat, EveryFormatThatComputeCanUseHasItsSize) {
  const struct {
    unsigned code, bytes, channels;
  } known[] = {{1, 1, 1},   {10, 1, 1},  {25, 2, 1},  {31, 2, 2},  {40, 2, 3},  {43, 2, 4},  {55, 4, 1},  {65, 4, 2},
               {81, 4, 4},  {91, 4, 4},  {92, 4, 3},  {93, 4, 3},  {94, 4, 4},  {105, 8, 2}, {115, 8, 4}, {125, 16, 4},
               {250, 2, 1}, {252, 4, 1}, {253, 1, 1}, {260, 8, 1}, {552, 8, 4}, {555, 4, 3}};
  for (const auto& format : known) {
    EXPECT_EQ(pixel_format(format.code).bytes, format.bytes) << format.code;
    EXPECT_EQ(pixel_format(format.code).channels(), format.channels) << format.code;
  }
  for (const unsigned code : {0u, 2u, 130u, 240u, 263u, 556u, ~0u}) EXPECT_FALSE(pixel_format(code).valid()) << code;
}

TEST(TextureFormat, BitsAreWhereMetalSaysTheyAre) {
  const struct {
    unsigned code;
    Bits bits;
    Float4 color;
  } known[] = {
      {1, {0xFF}, {0, 0, 0, 1}},
      {10, {0x80}, {128 / 255.0f, 0, 0, 1}},
      {12, {0x81}, {-1, 0, 0, 1}},
      {25, {0x3C00}, {1, 0, 0, 1}},
      {30, {0xFF00}, {0, 1, 0, 1}},
      {40, {0xF800}, {1, 0, 0, 1}},
      {40, {0x001F}, {0, 0, 1, 1}},
      {40, {0x07E0}, {0, 1, 0, 1}},
      {41, {0x0001}, {0, 0, 0, 1}},
      {41, {0xF800}, {1, 0, 0, 0}},
      {41, {0x003E}, {0, 0, 1, 0}},
      {42, {0xF000}, {1, 0, 0, 0}},
      {42, {0x000F}, {0, 0, 0, 1}},
      {43, {0x8000}, {0, 0, 0, 1}},
      {43, {0x001F}, {0, 0, 1, 0}},
      {55, {0x40490FDB}, {3.14159274f, 0, 0, 1}},
      {70, {0xFF0000FF}, {1, 0, 0, 1}},
      {80, {0xFF0000FF}, {0, 0, 1, 1}},
      {90, {0x000003FF}, {1, 0, 0, 0}},
      {90, {0xC0000000}, {0, 0, 0, 1}},
      {94, {0x000003FF}, {0, 0, 1, 0}},
      {92, {0x3C0}, {1, 0, 0, 1}},             // 15 << 6
      {92, {15u << 27}, {0, 0, 1, 1}},         // 15 << 5, at bit 22
      {92, {0x7C0}, {INFINITY, 0, 0, 1}},      //
      {93, {256u | 16u << 27}, {1, 0, 0, 1}},  // 256 * 2^(16 - 24)
      {93, {511u << 18 | 31u << 27}, {0, 0, 65408, 1}},
      {105, {0x3F800000, 0xC0000000}, {1, -2, 0, 1}},
      {115, {0x40003C00, 0xC4004200}, {1, 2, 3, -4}},
      {125, {0, 0x3F800000, 0, 0xBF800000}, {0, 1, 0, -1}},
      {250, {0xFFFF}, {1, 0, 0, 1}},
      {252, {0x3F000000}, {0.5f, 0, 0, 1}},
      {255, {0xAAFFFFFF}, {1, 0, 0, 1}},
      {260, {0x3F000000, 0xAA}, {0.5f, 0, 0, 1}},
      {552, {384u << 6 | 894u << 22, 384u << 6 | 894u << 22}, {0, 1, 0, 1}},
      {554, {384u | 894u << 10 | 639u << 20}, {0.5f, 1, 0, 1}},
  };
  for (const auto& texel : known) {
    TestTexture texture(texel.code, {});
    set_bits(texture, texel.bits);
    const Float4 color = read(texture);
    for (int i = 0; i < 4; ++i) EXPECT_FLOAT_EQ(color[i], texel.color[i]) << texel.code << " channel " << i;
  }
}

TEST(TextureFormat, IntegersAreExtendedByTheirSign) {
  TestTexture bytes(rgba8_sint, {});
  bytes.set(uint32_t{0x807FFF01}, 0);
  EXPECT_EQ((invoke<Int4>("metal.texture_2d_read.i32", bytes.handle(), 0u, 0u, 0u, 0u, 0u)), (Int4{1, -1, 127, -128}));
  TestTexture unsigned_bytes(rgba8_uint, {});
  unsigned_bytes.set(uint32_t{0x807FFF01}, 0);
  EXPECT_EQ((invoke<Uint4>("metal.texture_2d_read.u32", unsigned_bytes.handle(), 0u, 0u, 0u, 0u, 0u)),
            (Uint4{1, 255, 127, 128}));
  TestTexture stencil(261, {});  // X32_Stencil8
  stencil.set(uint64_t{0xAB'3F800000}, 0);
  EXPECT_EQ((invoke<Uint4>("metal.texture_2d_read.u32", stencil.handle(), 0u, 0u, 0u, 0u, 0u)), (Uint4{0xAB, 0, 0, 1}));
}

TEST(TextureFormat, IntegersAreWrittenSaturated) {
  TestTexture bytes(rgba8_sint, {});
  write(bytes, "i32", Int4{1000, -1000, 5, -5});
  EXPECT_EQ(bytes.get<uint32_t>(0), 0xFB05807Fu);
  TestTexture unsigned_bytes(rgba8_uint, {});
  write(unsigned_bytes, "u32", Uint4{1000, 255, 256, 0});
  EXPECT_EQ(unsigned_bytes.get<uint32_t>(0), 0x00FFFFFFu);
  TestTexture shorts(rgba16_sint, {});
  write(shorts, "i32", Int4{INT32_MAX, INT32_MIN, -1, 7});
  EXPECT_EQ(shorts.get<uint64_t>(0), 0x0007FFFF80007FFFu);
  TestTexture words(rgba32_uint, {});
  write(words, "u32", Uint4{~0u, 0, 1, 0x80000000});
  EXPECT_EQ(words.get<Uint4>(0), (Uint4{~0u, 0, 1, 0x80000000}));
  TestTexture packed(91, {});  // RGB10A2Uint
  write(packed, "u32", Uint4{2000, 1, 2, 9});
  EXPECT_EQ(packed.get<uint32_t>(0), 1023u | 1 << 10 | 2 << 20 | 3u << 30);
}

// What a channel's bits mean, in double and without the table's arithmetic.
double value_of(Numbers numbers, bool alpha, uint32_t bits, unsigned width) {
  const double most = std::pow(2.0, width) - 1;
  const auto linear = [](double x) { return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4); };
  switch (numbers) {
    case Numbers::unorm:
      return bits / most;
    case Numbers::srgb:
      return alpha ? bits / most : linear(bits / most);
    case Numbers::snorm: {
      const double half = std::pow(2.0, width - 1);
      return std::max((bits >= half ? bits - 2 * half : bits) / (half - 1), -1.0);
    }
    case Numbers::floating: {
      if (width == 32) {
        float value;
        std::memcpy(&value, &bits, sizeof value);
        return value;
      }
      const unsigned mantissa = width == 16 ? 10 : width - 5;
      const double sign = bits >> (mantissa + 5) & 1 ? -1 : 1;
      const int exponent = bits >> mantissa & 31;
      const double fraction = (bits & ((1u << mantissa) - 1)) / std::pow(2.0, mantissa);
      if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
      return sign * (exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15));
    }
    case Numbers::extended_range:
      return (bits - 384.0) / 510;
    case Numbers::extended_range_srgb: {
      const double x = (bits - 384.0) / 510;
      return alpha ? x : std::copysign(linear(std::abs(x)), x);
    }
    default:
      return NAN;
  }
}

uint32_t field(const PixelFormat& format, const Bits& bits, unsigned channel) {
  const uint64_t mask = (uint64_t{1} << format.width[channel]) - 1;
  return static_cast<uint32_t>(bits[format.shift[channel] / 32] >> format.shift[channel] % 32 & mask);
}

// All patterns of narrow texels, and random ones of wide texels.
template <class Body>
void for_many_texels(const PixelFormat& format, Body body) {
  std::mt19937 random(7);
  const unsigned count = format.bytes == 1 ? 256 : format.bytes == 2 ? 65536 : 20000;
  for (unsigned i = 0; i < count; ++i) {
    Bits bits = {i};
    if (format.bytes > 2)
      for (uint32_t& word : bits) word = static_cast<uint32_t>(random());
    body(bits);
  }
}

TEST(TextureFormat, NumbersAreThoseOfTheirBits) {
  for (const auto& [code, format] : device::pixel_formats) {
    if (format.integer() || format.numbers == Numbers::shared_exponent) continue;
    TestTexture texture(code, {});
    // sRGB goes through pow, of 16 ulp at most; all others are one correctly rounded operation.
    const bool curved = format.numbers == Numbers::srgb || format.numbers == Numbers::extended_range_srgb;
    const double tolerance = curved ? 4e-6 : 1e-7;
    for_many_texels(format, [&, &format = format, &code = code](const Bits& bits) {
      set_bits(texture, bits);
      const Float4 color = read(texture);
      for (unsigned i = 0; i < 4; ++i) {
        if (format.width[i] == 0) {
          ASSERT_EQ(color[i], i == 3 ? 1.0f : 0.0f) << code;
          continue;
        }
        const double expected = value_of(format.numbers, i == 3, field(format, bits, i), format.width[i]);
        if (std::isnan(expected))
          ASSERT_TRUE(std::isnan(color[i])) << code;
        else if (std::isinf(expected))
          ASSERT_EQ(color[i], expected) << code;
        else
          ASSERT_NEAR(color[i], expected, tolerance * std::abs(expected) + 1e-9) << code << " channel " << i;
      }
    });
  }
}

TEST(TextureFormat, WhatIsReadIsWrittenBackAsTheSameBits) {
  for (const auto& [code, format] : device::pixel_formats) {
    if (format.numbers == Numbers::shared_exponent) continue;
    TestTexture texture(code, {}), copy(code, {});
    for_many_texels(format, [&, &format = format, &code = code](const Bits& bits) {
      set_bits(texture, bits);
      if (format.numbers == Numbers::signed_integer) {
        write(copy, "i32", invoke<Int4>("metal.texture_2d_read.i32", texture.handle(), 0u, 0u, 0u, 0u, 0u));
      } else if (format.numbers == Numbers::unsigned_integer) {
        write(copy, "u32", invoke<Uint4>("metal.texture_2d_read.u32", texture.handle(), 0u, 0u, 0u, 0u, 0u));
      } else {
        write(copy, "f32", read(texture));
      }
      const Bits written = bits_of(copy);
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned width = format.width[i];
        if (width == 0) continue;
        const uint32_t before = field(format, bits, i), after = field(format, written, i);
        const bool second_minus_one = format.numbers == Numbers::snorm && before == 1u << (width - 1);
        if (format.numbers == Numbers::floating && std::isnan(value_of(format.numbers, false, before, width)))
          ASSERT_TRUE(std::isnan(value_of(format.numbers, false, after, width))) << code;
        else
          ASSERT_EQ(after, second_minus_one ? before + 1 : before) << code << " channel " << i;
      }
    });
  }
}

TEST(TextureFormat, NumbersAreRoundedToNearestAndSaturate) {
  const float special[] = {0,         -0.0f, 1,     -1,        2,     -2,    0.5f,  INFINITY,
                           -INFINITY, NAN,   65504, 65519.99f, 65520, 1e30f, 6e-8f, 2.9e-8f};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> number(-1.5f, 1.5f);
  for (const auto& [code, format] : device::pixel_formats) {
    const Numbers numbers = format.numbers;
    if (numbers != Numbers::unorm && numbers != Numbers::snorm && numbers != Numbers::srgb &&
        numbers != Numbers::floating)
      continue;
    TestTexture texture(code, {});
    for (unsigned n = 0; n < 3000; ++n) {
      Float4 color;
      for (float& channel : color) channel = n < std::size(special) ? special[n] : number(random);
      write(texture, "f32", color);
      const Float4 stored = read(texture);
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned width = format.width[i];
        if (width == 0) continue;
        double value = color[i];
        if (numbers == Numbers::floating) {
          if (width < 16) value = value < 0 ? 0 : value;
          const double largest = width == 16 ? 65520 : width == 11 ? 65024 + 256 : width == 10 ? 64512 + 512 : INFINITY;
          if (std::isnan(value)) {
            ASSERT_TRUE(std::isnan(stored[i])) << code;
            continue;
          }
          if (std::abs(value) >= largest) {
            ASSERT_EQ(stored[i], std::copysign(INFINITY, value)) << code;
            continue;
          }
          const double step =
              std::ldexp(1.0, std::max(std::ilogb(value == 0 ? 1e-30 : value), width == 32 ? -126 : -14) -
                                  static_cast<int>(width == 32   ? 23
                                                   : width == 16 ? 10
                                                                 : width - 5));
          ASSERT_LE(std::abs(stored[i] - value), step / 2) << code << " " << value;
        } else {
          const double least = numbers == Numbers::snorm ? -1 : 0;
          value = std::isnan(value) ? 0 : std::min(std::max(value, least), 1.0);
          // Half a step of the format; of sRGB's curve, where it is steepest; and the rounding of a float product.
          const double steps = std::pow(2.0, width - (numbers == Numbers::snorm ? 1 : 0)) - 1;
          const double step = (numbers == Numbers::srgb && i != 3 ? 2.3 : 1) / steps;
          ASSERT_NEAR(stored[i], value, step / 2 + 1e-7) << code << " " << value;
        }
      }
    }
  }
}

TEST(TextureFormat, SharedExponentsKeepEightBitsOfTheLargestChannel) {
  TestTexture texture(93, {});
  std::mt19937 random(3);
  std::uniform_real_distribution<float> exponent(-20, 17);
  for (int n = 0; n < 20000; ++n) {
    const Float4 color = {std::exp2(exponent(random)), std::exp2(exponent(random)), std::exp2(exponent(random)), 0.25f};
    write(texture, "f32", color);
    const Float4 stored = read(texture);
    float top = 0;
    for (int i = 0; i < 3; ++i) top = std::max(top, std::min(color[i], 65408.0f));
    const float unit = std::exp2(std::max(std::floor(std::log2(top)), -16.0f) - 8);
    for (int i = 0; i < 3; ++i) ASSERT_LE(std::abs(stored[i] - std::min(color[i], 65408.0f)), unit) << color[i];
    ASSERT_EQ(stored[3], 1);
    const Bits before = bits_of(texture);
    write(texture, "f32", stored);
    ASSERT_EQ(bits_of(texture), before);
  }
  write(texture, "f32", Float4{NAN, -1, INFINITY, 1});
  EXPECT_EQ(read(texture), (Float4{0, 0, 65408, 1}));
  write(texture, "f32", Float4{0, 0, 0, 1});
  EXPECT_EQ(bits_of(texture)[0], 0u);
}

TEST(TextureFormat, A64BitElementIsTheTwoChannelsOfRG32) {
  TestTexture texture(rg32_uint, {});
  const Ulong4 value = {0x0123456789ABCDEF, 5, 6, 7};
  write(texture, "u64", value);
  EXPECT_EQ(texture.get<uint64_t>(0), value[0]);
  EXPECT_EQ((invoke<Ulong4>("metal.texture_2d_read.u64", texture.handle(), 0u, 0u, 0u, 0u, 0u)),
            (Ulong4{0x0123456789ABCDEF, 0, 0, 1}));
}

}  // namespace
}  // namespace metalloid::builtins
