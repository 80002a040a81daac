// Small floating-point numbers: half against the compiler's own, bfloat against the numbers around it.
#include "device/small_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>

namespace metalloid::device {
namespace {

TEST(SmallFloat, EveryHalfIsTheFloatItStandsFor) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float expected = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    const float value = from_half(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
      ASSERT_TRUE(std::isnan(from_half(to_half(value)))) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected)) << bits;
      ASSERT_EQ(to_half(value), bits);
    }
  }
}

TEST(SmallFloat, AFloatBecomesTheNearestHalf) {
  std::mt19937 random(9);
  const auto check = [](float value) {
    const uint16_t expected = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    if (std::isnan(value)) {
      ASSERT_GT(to_half(value) & 0x7FFF, 0x7C00u);
    } else {
      ASSERT_EQ(to_half(value), expected) << value;
    }
  };
  for (int n = 0; n < 2000000; ++n) check(std::bit_cast<float>(static_cast<uint32_t>(random())));
  // Between two halves, and just beside the middle.
  for (uint32_t bits = 0; bits < 0x7C00; ++bits) {
    const float middle = (from_half(bits) + (bits == 0x7BFF ? 65536.0f : from_half(bits + 1))) / 2;
    check(middle), check(-middle), check(std::nextafter(middle, 0.0f)), check(std::nextafter(middle, INFINITY));
  }
}

TEST(SmallFloat, AFloatBecomesTheNearestBfloatAndOfTwoTheEvenOne) {
  for (uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const float value = from_bfloat(bits), next = from_bfloat(bits + 1);
    const float middle = std::bit_cast<float>(bits << 16 | 0x8000);
    ASSERT_EQ(to_bfloat(value), bits);
    ASSERT_EQ(to_bfloat(-value), bits | 0x8000);
    ASSERT_EQ(to_bfloat(middle), bits % 2 == 0 ? bits : bits + 1) << value;
    ASSERT_EQ(to_bfloat(std::nextafter(middle, value)), bits) << value;
    ASSERT_EQ(to_bfloat(std::nextafter(middle, next)), bits + 1) << value;
  }
  EXPECT_EQ(to_bfloat(INFINITY), 0x7F80u);
  EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(std::bit_cast<float>(0x7F800001u)))));
}

TEST(SmallFloat, WithoutASignNothingIsNegative) {
  EXPECT_EQ(to_small_float(-1, 6, false), 0u);
  EXPECT_EQ(to_small_float(-INFINITY, 6, false), 0u);
  EXPECT_EQ(to_small_float(1, 6, false), 15u << 6);
  EXPECT_EQ(to_small_float(65024, 6, false), 0x7BFu);
  EXPECT_EQ(to_small_float(1e9f, 5, false), 31u << 5);
  for (uint32_t bits = 0; bits <= 31u << 6; ++bits)
    ASSERT_EQ(to_small_float(from_small_float(bits, 6), 6, false), bits);
  for (uint32_t bits = 0; bits <= 31u << 5; ++bits)
    ASSERT_EQ(to_small_float(from_small_float(bits, 5), 5, false), bits);
}

}  // namespace
}  // namespace metalloid::device
