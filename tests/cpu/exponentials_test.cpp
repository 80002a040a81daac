// Functions of 2^x as processors compute it (lower/exponentials.cpp), against the true values: in all lanes, in one,
// and in as many as vectors of a kernel's own have.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "../builtins/samples.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

struct Variant {
  const char* name;
  std::string kernel;  // in which F is the function
};

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"all lanes", "kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = F(x[i]); }"},
      {"one lane at a time",
       "kernel void f(device float* x, uint n [[threads_per_grid]], uint i [[thread_position_in_grid]]) {"
       "  if (i == 0) for (uint k = 0; k < n; ++k) x[k] = F(x[k]); }"},
      {"vectors of threes",
       "kernel void f(device packed_float3* x, uint n [[threads_per_grid]], uint i [[thread_position_in_grid]]) {"
       "  if (i < n / 3) x[i] = F(float3(x[i])); }"}};
  return all;
}

const builtins::Unary& function(const std::string& name) {
  return *std::ranges::find_if(builtins::unary_functions(), [&](const auto& f) { return f.name == name; });
}

std::vector<float> samples(const builtins::Unary& function) {
  std::mt19937 random(5);
  std::vector<float> x = builtins::special_floats();
  const auto add = [&x](const std::vector<float>& more) { x.insert(x.end(), more.begin(), more.end()); };
  add(builtins::random_floats(random, 20000));
  add(builtins::floats_in(random, {-160, 140}, 20000));
  for (const builtins::Range range : function.ranges) add(builtins::floats_in(random, range, 20000));
  x.resize(x.size() / 96 * 96);
  return x;
}

std::vector<float> results(const Variant& variant, const std::string& called, std::vector<float> x) {
  Kernel kernel("#define F " + called + "\n" + variant.kernel);
  EXPECT_TRUE(kernel.pipeline) << kernel.error;
  EXPECT_EQ(kernel.run({{static_cast<uint32_t>(x.size()), 1, 1}, {96, 1, 1}, {buffer(x)}}), "");
  return x;
}

class ExponentialsAccuracy : public testing::TestWithParam<const char*> {};

TEST_P(ExponentialsAccuracy, AreAsExactAsMetalAsks) {
  const builtins::Unary& f = function(GetParam());
  const std::vector<float> x = samples(f);
  for (const Variant& variant : variants()) {
    const std::vector<float> y = results(variant, std::string("fast::") + f.name, x);
    builtins::Worst worst;
    for (size_t i = 0; i < x.size(); ++i) {
      const double truth = f.truth(x[i]);
      worst.add(y[i], truth, builtins::f32, f.fast_ulp(x[i], truth), x[i]);
    }
    EXPECT_LE(worst.of_allowed, 1) << variant.name << worst.where;
  }
}

TEST_P(ExponentialsAccuracy, OfHalvesAreAsExactAsMetalAsks) {
  const builtins::Unary& f = function(GetParam());
  const std::vector<uint16_t> operands = builtins::all_halves();
  std::vector<uint16_t> x = operands;
  Kernel kernel("kernel void f(device half* x, uint i [[thread_position_in_grid]]) { x[i] = " + std::string(f.name) +
                "(x[i]); }");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  ASSERT_EQ(kernel.run({{static_cast<uint32_t>(x.size()), 1, 1}, {64, 1, 1}, {buffer(x)}}), "");
  builtins::Worst worst;
  for (size_t i = 0; i < x.size(); ++i)
    worst.add(builtins::value_of(x[i]), f.truth(builtins::value_of(operands[i])), builtins::f16, f.half_ulp,
              builtins::value_of(operands[i]));
  EXPECT_LE(worst.of_allowed, 1) << worst.where;
}

INSTANTIATE_TEST_SUITE_P(Cpu, ExponentialsAccuracy, testing::Values("exp", "exp2", "exp10", "tanh"),
                         [](const auto& test) { return std::string(test.param); });

TEST(Exponentials, KeepWhatKernelsRelyOn) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> x(96, 0.0f), expected(96, 1.0f);
  x[0] = -infinity, expected[0] = 0;
  x[1] = infinity, expected[1] = infinity;
  x[2] = -1e30f, expected[2] = 0;
  x[3] = 1e30f, expected[3] = infinity;
  x[4] = -0.0f;
  for (const char* called : {"fast::exp", "fast::exp2", "fast::exp10"})
    for (const Variant& variant : variants())
      EXPECT_EQ(results(variant, called, x), expected) << called << ", " << variant.name;
}

}  // namespace
}  // namespace metalloid::cpu
