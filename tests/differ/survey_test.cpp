// All kernels of a library on two engines: which are the same, differ, are undefined, cannot be run.
#include "differ/survey.hpp"

#include <gtest/gtest.h>

#include <map>

namespace metalloid::differ {
namespace {

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
kernel void doubles(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void leaves_its_buffer(device float* x, uint i [[thread_position_in_grid]]) { x[i + 100000000] = 1; }
kernel void is_now_and_then_defined(device float* x, constant uint& n, uint i [[thread_position_in_grid]]) {
  if (n > 4) x[i] = n; else x[100000000] = 1;
}
kernel void counts_on(device atomic_int* x, uint i [[thread_position_in_grid]]) {
  atomic_store_explicit(&x[i + 1], atomic_load_explicit(&x[i], memory_order_relaxed) + 1, memory_order_relaxed);
}
kernel void samples_a_cube(texturecube<float> t, device float* x) { x[0] = t.get_width(); }
kernel void never_ends(device float* x, uint i [[thread_position_in_grid]]) {
  for (uint j = 0; ; ++j) x[i] = sin(x[i] + j);
}
)";

struct Told {
  Verdict verdict;
  std::string what;
};

std::map<std::string, Told> survey(const Survey& survey, const std::vector<std::string>& kernels) {
  auto library = compile_source(source);
  EXPECT_TRUE(library) << library.error();
  std::map<std::string, Told> told;
  survey.run(*library, kernels, [&](std::string_view kernel, Verdict verdict, const std::string& what) {
    EXPECT_TRUE(told.emplace(kernel, Told{verdict, what}).second) << kernel << " is told of twice";
  });
  EXPECT_EQ(told.size(), kernels.size());
  return told;
}

TEST(Survey, TellsWhatIsSameUndefinedOrNotRun) {
  auto told = survey({.tries = 8}, {"doubles", "leaves_its_buffer", "is_now_and_then_defined", "samples_a_cube"});
  EXPECT_EQ(told["doubles"].verdict, Verdict::same) << told["doubles"].what;
  EXPECT_EQ(told["leaves_its_buffer"].verdict, Verdict::undefined);
  EXPECT_NE(told["leaves_its_buffer"].what.find("out-of-bounds access"), std::string::npos);
  EXPECT_EQ(told["is_now_and_then_defined"].verdict, Verdict::same) << told["is_now_and_then_defined"].what;
  EXPECT_EQ(told["samples_a_cube"].verdict, Verdict::not_run);
  EXPECT_EQ(told["samples_a_cube"].what, "argument 't': what is in a texturecube is not made up");
}

// One thread after another counts up, 32 at a time do not; both are right.
TEST(Survey, ABufferWithOtherNumbersDiffers) {
  auto told = survey({.engines = {{"vector", 32}}}, {"counts_on"});
  EXPECT_EQ(told["counts_on"].verdict, Verdict::differs);
  EXPECT_NE(told["counts_on"].what.find("argument 0 differs"), std::string::npos) << told["counts_on"].what;
}

TEST(Survey, AnEngineThatCannotRunItDiffers) {
  auto told = survey({.engines = {{"abacus", 0}}}, {"doubles", "leaves_its_buffer"});
  EXPECT_EQ(told["doubles"].verdict, Verdict::differs);
  EXPECT_NE(told["doubles"].what.find("there is no device 'abacus'"), std::string::npos) << told["doubles"].what;
  EXPECT_EQ(told["leaves_its_buffer"].verdict, Verdict::undefined);
}

TEST(Survey, AKernelThatNeverEndsIsLeftAlone) {
  auto told = survey({.tries = 1, .seconds = 1}, {"never_ends", "doubles"});
  EXPECT_EQ(told["never_ends"].verdict, Verdict::undefined) << told["never_ends"].what;
  EXPECT_EQ(told["doubles"].verdict, Verdict::same);
}

}  // namespace
}  // namespace metalloid::differ
