// What devices rely on in the math builtins' code.

#include <gtest/gtest.h>

#include <set>

#include "functions.hpp"
#include "sweep.hpp"

namespace metalloid::builtins {
namespace {

std::vector<std::string> all_symbols() {
  std::vector<std::string> symbols{"metal.fmod.f32", "metal.fmod.f16"};
  const auto add = [&symbols](const std::string& name) {
    symbols.push_back("metal." + name + ".f32");
    symbols.push_back("metal.fast_" + name + ".f32");
    symbols.push_back("metal." + name + ".f16");
  };
  for (const Unary& function : unary_functions()) add(function.name);
  for (const Binary& function : binary_functions()) add(function.name);
  return symbols;
}

TEST(MathBodies, AreThereForEveryFunctionOfTheTable) {
  for (const std::string& symbol : all_symbols()) EXPECT_TRUE(anatomy(symbol).defined) << symbol;
}

TEST(MathBodies, UseNothingButOperandsAndIntrinsics) {
  for (const std::string& symbol : all_symbols()) {
    const Anatomy body = anatomy(symbol);
    EXPECT_FALSE(body.touches_memory) << symbol;
    EXPECT_TRUE(body.calls.empty()) << symbol << " calls " << body.calls.front();
  }
}

// A branch costs a device that runs lanes as a vector both of its sides. Large angles have one, remainders a loop.
TEST(MathBodies, AreStraightLines) {
  const std::set<std::string> branching{"metal.sin.f32", "metal.cos.f32", "metal.tan.f32", "metal.fmod.f32",
                                        "metal.fmod.f16"};
  for (const std::string& symbol : all_symbols()) {
    if (branching.contains(symbol)) continue;
    EXPECT_EQ(anatomy(symbol).blocks, 1u) << symbol;
  }
}

}  // namespace
}  // namespace metalloid::builtins
