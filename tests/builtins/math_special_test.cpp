// Results that must be exact: special values in every mode, results that are floats, remainders.

#include <gtest/gtest.h>

#include "samples.hpp"
#include "sweep.hpp"

namespace metalloid::builtins {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

float call(const std::string& name, float x) {
  float result;
  sweep("metal." + name + ".f32", {&x, 1}, {&result, 1});
  return result;
}
float call(const std::string& name, float x, float y) {
  float result;
  sweep("metal." + name + ".f32", {&x, 1}, {&y, 1}, {&result, 1});
  return result;
}

// Equal, and of the same sign if zero.
void expect_same(float result, float expected, const std::string& what) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(result)) << what << " is " << result;
    return;
  }
  EXPECT_EQ(result, expected) << what;
  EXPECT_EQ(std::signbit(result), std::signbit(expected)) << what;
}
void expect(const std::string& name, float x, float expected) {
  expect_same(call(name, x), expected, name + "(" + std::to_string(x) + ")");
}
void expect(const std::string& name, float x, float y, float expected) {
  expect_same(call(name, x, y), expected, name + "(" + std::to_string(x) + ", " + std::to_string(y) + ")");
}

TEST(SpecialValues, FastFunctionsKeepWhatKernelsRelyOn) {
  for (const std::string name : {"fast_exp", "fast_exp2", "fast_exp10"}) {
    expect(name, -infinity, 0);
    expect(name, infinity, infinity);
    expect(name, -1e30f, 0);
    expect(name, 1e30f, infinity);
    expect(name, 0, 1);
  }
  for (const std::string name : {"fast_log", "fast_log2", "fast_log10"}) {
    expect(name, 0, -infinity);
    expect(name, infinity, infinity);
    expect(name, 1, 0);
    expect(name, -1, nan);
  }
  expect("fast_sqrt", 0, 0);
  expect("fast_sqrt", infinity, infinity);
  expect("fast_rsqrt", 0, infinity);
  expect("fast_rsqrt", infinity, 0);
  expect("fast_divide", 3, 0, infinity);
  expect("fast_divide", -3, 0, -infinity);
  for (const float large : {20.0f, 100.0f, 1e30f, infinity}) {
    expect("fast_tanh", large, 1);
    expect("fast_tanh", -large, -1);
  }
  expect("fast_pow", -2, 3, -8);
  expect("fast_pow", 0, 0, 1);
}

TEST(SpecialValues, ANanOperandGivesNan) {
  for (const Unary& function : unary_functions())
    for (const char* prefix : {"", "fast_"}) expect(std::string(prefix) + function.name, nan, nan);
  for (const Binary& function : binary_functions())
    for (const char* prefix : {"", "fast_"}) {
      expect(std::string(prefix) + function.name, nan, 2, nan);
      expect(std::string(prefix) + function.name, 2, nan, nan);
    }
}

TEST(SpecialValues, FastSineAndCosineStayInTheirRange) {
  std::mt19937 random(3);
  const auto x = random_floats(random, 100000);
  std::vector<float> results(x.size());
  for (const char* symbol : {"metal.fast_sin.f32", "metal.fast_cos.f32"}) {
    sweep(symbol, x, results);
    for (size_t i = 0; i < x.size(); ++i) {
      if (std::isfinite(x[i]))
        EXPECT_LE(std::fabs(results[i]), 1) << symbol << " of " << x[i];
      else
        EXPECT_TRUE(std::isnan(results[i])) << symbol << " of " << x[i];
    }
  }
}

TEST(SpecialValues, PowersOfTwoAndTenAreExact) {
  for (int n = -149; n < 128; ++n) {
    const auto power = static_cast<float>(std::ldexp(1.0, n));
    expect("exp2", static_cast<float>(n), power);
    expect("fast_exp2", static_cast<float>(n), power);
    expect("log2", power, static_cast<float>(n));
    expect("pow", 2, static_cast<float>(n), power);
  }
  float power = 1;
  for (int n = 0; n <= 10; ++n, power *= 10) {
    expect("exp10", static_cast<float>(n), power);
    expect("log10", power, static_cast<float>(n));
    expect("pow", 10, static_cast<float>(n), power);
  }
}

TEST(SpecialValues, PowersOfSmallIntegersAreExact) {
  for (int base = -40; base <= 40; ++base)
    for (int exponent = 0; exponent <= 4; ++exponent) {
      const auto power = static_cast<float>(std::pow(base, exponent));
      expect("pow", static_cast<float>(base), static_cast<float>(exponent), power);
    }
}

TEST(SpecialValues, HalfTurnsAreExact) {
  for (float n = 0; n < 20; ++n) {
    const float sign = std::fmod(n, 2.0f) == 0 ? 1 : -1;
    for (const std::string mode : {"", "fast_"}) {
      expect(mode + "sinpi", n, 0.0f);
      expect(mode + "sinpi", -n, -0.0f);
      expect(mode + "sinpi", n + 0.5f, sign);
      expect(mode + "cospi", n, sign);
      expect(mode + "cospi", n + 0.5f, 0.0f);
      expect(mode + "cospi", -n - 0.5f, 0.0f);
      expect(mode + "tanpi", n, std::copysign(0.0f, sign));
      expect(mode + "tanpi", n + 0.5f, sign * infinity);
      expect(mode + "tanpi", -n - 0.5f, -sign * infinity);
    }
  }
  expect("sinpi", 0x1p127f, 0.0f);
  expect("cospi", 0x1.fffffep127f, 1);
  expect("sinpi", infinity, nan);
}

// Two binades stand for all: a factor of 4 in x is one of 1/2 in the result.
TEST(SpecialValues, ReciprocalSquareRootsAreCorrectlyRounded) {
  std::vector<float> x(65536), results(x.size());
  for (uint32_t start = std::bit_cast<uint32_t>(1.0f); start < std::bit_cast<uint32_t>(4.0f); start += x.size()) {
    for (uint32_t i = 0; i < x.size(); ++i) x[i] = std::bit_cast<float>(start + i);
    sweep("metal.rsqrt.f32", x, results);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(results[i], static_cast<float>(1 / std::sqrt(static_cast<double>(x[i])))) << x[i];
  }
}

TEST(Fmod, IsExactOnFloats) {
  std::vector<float> x, y;
  for (const float a : special_floats())
    for (const float b : special_floats()) {
      x.push_back(a);
      y.push_back(b);
    }
  std::mt19937 random(5);
  for (const Range range : {Range{-10, 10}, Range{-1e6f, 1e6f}}) {
    const auto a = floats_in(random, range, 50000);
    const auto b = floats_in(random, {-3, 3}, 50000);
    x.insert(x.end(), a.begin(), a.end());
    y.insert(y.end(), b.begin(), b.end());
  }
  const auto a = random_floats(random, 100000);
  const auto b = random_floats(random, 100000);
  x.insert(x.end(), a.begin(), a.end());
  y.insert(y.end(), b.begin(), b.end());
  std::vector<float> results(x.size());
  sweep("metal.fmod.f32", x, y, results);
  for (size_t i = 0; i < x.size(); ++i)
    expect_same(results[i], std::fmod(x[i], y[i]), "fmod(" + std::to_string(x[i]) + ", " + std::to_string(y[i]) + ")");
}

TEST(Fmod, IsExactOnHalves) {
  std::mt19937 random(5);
  std::vector<uint16_t> x(200000), y(x.size()), results(x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = static_cast<uint16_t>(random());
    y[i] = static_cast<uint16_t>(random());
  }
  sweep("metal.fmod.f16", x, y, results);
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = std::fmod(value_of(x[i]), value_of(y[i]));
    expect_same(static_cast<float>(value_of(results[i])), static_cast<float>(truth),
                "fmod(" + std::to_string(value_of(x[i])) + ", " + std::to_string(value_of(y[i])) + ")");
  }
}

}  // namespace
}  // namespace metalloid::builtins
