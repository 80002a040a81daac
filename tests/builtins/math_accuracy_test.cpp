// Every math builtin against the true value in double: on special values, on numbers of all sizes and on the ranges
// where the function is interesting; half functions of one operand on every half there is. Functions of one float are
// tried on every float, too, if METALLOID_ALL_FLOATS is set, which takes some hours.

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "samples.hpp"
#include "sweep.hpp"

namespace metalloid::builtins {
namespace {

std::string symbol(const char* prefix, const char* name, const char* type) {
  return std::string("metal.") + prefix + name + "." + type;
}

void report(const std::string& symbol, const Worst& worst) {
  std::printf("%-20s %8.3f ulp, %3.0f %% of what is allowed, %s\n", symbol.c_str(), worst.ulp, 100 * worst.of_allowed,
              worst.where.c_str());
  EXPECT_LE(worst.of_allowed, 1) << symbol << worst.where;
}

std::vector<float> samples(const Unary& function) {
  std::mt19937 random(7);
  std::vector<float> x = special_floats();
  const auto add = [&x](const std::vector<float>& more) { x.insert(x.end(), more.begin(), more.end()); };
  add(random_floats(random, 150000));
  for (const Range range : function.ranges) add(floats_in(random, range, 100000));
  return x;
}

template <class Use>
void each_batch(const Unary& function, Use use) {
  if (!std::getenv("METALLOID_ALL_FLOATS")) return use(samples(function));
  std::vector<float> batch(65536);
  for (uint32_t high = 0; high < 65536; ++high) {
    for (uint32_t low = 0; low < batch.size(); ++low) batch[low] = std::bit_cast<float>(high << 16 | low);
    use(batch);
  }
}

// Pairs of special values, of numbers of all sizes, of numbers around 1, and of bases and exponents whose powers are
// floats.
struct Pairs {
  std::vector<float> x;
  std::vector<float> y;

  Pairs() {
    for (const float a : special_floats())
      for (const float b : special_floats()) add(a, b);
    std::mt19937 random(11);
    const auto wide = random_floats(random, 200000);
    const auto near = floats_in(random, {-3, 3}, 200000);
    for (size_t i = 0; i + 1 < wide.size(); i += 2) {
      add(wide[i], wide[i + 1]);
      add(near[i], near[i + 1]);
      add(wide[i], near[i]);
      const float base = std::fabs(wide[i]);
      if (base > 0 && base < INFINITY) add(base, near[i] * 50 / std::log2(base));
      add(1 + near[i] * 0x1p-12f, near[i + 1] * 0x1p18f);
    }
  }

  void add(float a, float b) {
    x.push_back(a);
    y.push_back(b);
  }
};

const Pairs& pairs() {
  static const Pairs all;
  return all;
}

class FunctionOfOne : public testing::TestWithParam<Unary> {};
class FunctionOfTwo : public testing::TestWithParam<Binary> {};

TEST_P(FunctionOfOne, PreciseIsWithinTheTable) {
  const std::string name = symbol("", GetParam().name, "f32");
  Worst worst;
  each_batch(GetParam(), [&](const std::vector<float>& x) {
    std::vector<float> results(x.size());
    sweep(name, x, results);
    for (size_t i = 0; i < x.size(); ++i)
      worst.add(results[i], GetParam().truth(x[i]), f32, GetParam().precise_ulp, x[i]);
  });
  report(name, worst);
}

TEST_P(FunctionOfOne, FastIsWithinTheTable) {
  const std::string name = symbol("fast_", GetParam().name, "f32");
  Worst worst;
  each_batch(GetParam(), [&](const std::vector<float>& x) {
    std::vector<float> results(x.size());
    sweep(name, x, results);
    for (size_t i = 0; i < x.size(); ++i) {
      const double truth = GetParam().truth(x[i]);
      const double allowed = GetParam().fast_ulp(x[i], truth);
      if (std::isfinite(allowed)) worst.add(results[i], truth, f32, allowed, x[i]);
      EXPECT_EQ(std::isnan(results[i]), std::isnan(truth)) << name << "(" << x[i] << ")";
    }
  });
  report(name, worst);
}

TEST_P(FunctionOfOne, HalfIsWithinTheTableForEveryHalf) {
  const std::string name = symbol("", GetParam().name, "f16");
  const auto x = all_halves();
  std::vector<uint16_t> results(x.size());
  sweep(name, x, results);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(value_of(results[i]), GetParam().truth(value_of(x[i])), f16, GetParam().half_ulp, value_of(x[i]));
  report(name, worst);
}

TEST_P(FunctionOfTwo, PreciseIsWithinTheTable) {
  const std::string name = symbol("", GetParam().name, "f32");
  const auto& [x, y] = pairs();
  std::vector<float> results(x.size());
  sweep(name, x, y, results);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(results[i], GetParam().truth(x[i], y[i]), f32, GetParam().precise_ulp, x[i], y[i]);
  report(name, worst);
}

TEST_P(FunctionOfTwo, FastIsWithinTheTable) {
  const std::string name = symbol("fast_", GetParam().name, "f32");
  const auto& [x, y] = pairs();
  std::vector<float> results(x.size());
  sweep(name, x, y, results);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i) {
    const double truth = GetParam().truth(x[i], y[i]);
    const double allowed = GetParam().fast_ulp(x[i], y[i], truth);
    if (std::isfinite(allowed)) worst.add(results[i], truth, f32, allowed, x[i], y[i]);
  }
  report(name, worst);
}

TEST_P(FunctionOfTwo, HalfIsWithinTheTable) {
  const std::string name = symbol("", GetParam().name, "f16");
  std::mt19937 random(13);
  std::vector<uint16_t> x, y;
  for (int i = 0; i < 400000; ++i) {
    x.push_back(static_cast<uint16_t>(random()));
    y.push_back(static_cast<uint16_t>(random()));
  }
  const uint16_t specials[] = {0x0000, 0x0001, 0x03ff, 0x0400, 0x3800, 0x3bff, 0x3c00, 0x3c01, 0x3e00,
                               0x4000, 0x4200, 0x4900, 0x6400, 0x6800, 0x7bff, 0x7c00, 0x7e00};
  for (const uint16_t a : specials)
    for (const uint16_t b : specials)
      for (const unsigned signs : {0x00000000u, 0x00008000u, 0x80000000u, 0x80008000u}) {
        x.push_back(static_cast<uint16_t>(a | signs >> 16));
        y.push_back(static_cast<uint16_t>(b | (signs & 0x8000)));
      }
  std::vector<uint16_t> results(x.size());
  sweep(name, x, y, results);
  Worst worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(value_of(results[i]), GetParam().truth(value_of(x[i]), value_of(y[i])), f16, GetParam().half_ulp,
              value_of(x[i]), value_of(y[i]));
  report(name, worst);
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Math, FunctionOfOne, testing::ValuesIn(unary_functions()), name_of);
INSTANTIATE_TEST_SUITE_P(Math, FunctionOfTwo, testing::ValuesIn(binary_functions()), name_of);

}  // namespace
}  // namespace metalloid::builtins
