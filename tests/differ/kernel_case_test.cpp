#include "differ/kernel_case.hpp"

#include <gtest/gtest.h>

#include <set>

namespace metalloid::differ {
namespace {

constexpr const char* source = R"(
//@ buffer float random 2N+3
//@ bytes uint 5,7
//@ texture rgba8unorm zeros 4x3
//@ threadgroup 64
//@ grid 10x2 group 4x2x1
//@ tolerance 0.5
kernel void first(device float* a, constant uint* b) {}

//@ buffer ushort below:10 100
kernel void second(device ushort* a) {}
)";

TEST(KernelCase, CommentsSayWhatAKernelIsRunWith) {
  const auto cases = parse_cases(source);
  ASSERT_TRUE(cases) << cases.error();
  ASSERT_EQ(cases->size(), 2u);
  const KernelCase& first = (*cases)[0];
  EXPECT_EQ(first.kernel, "first");
  ASSERT_EQ(first.arguments.size(), 4u);
  EXPECT_EQ(first.tolerance, 0.5);
  ASSERT_EQ(first.launches.size(), 1u);
  EXPECT_EQ(to_text(first.launches[0]), "grid 10x2x1 group 4x2x1");
  EXPECT_EQ(initial_bytes(first, first.arguments[0], 0, 20).size(), 4u * 43);
  EXPECT_EQ(initial_bytes(first, first.arguments[1], 1, 20), (std::vector<uint8_t>{5, 0, 0, 0, 7, 0, 0, 0}));
  EXPECT_EQ(initial_bytes(first, first.arguments[2], 2, 20), std::vector<uint8_t>(48));
  const KernelCase& second = (*cases)[1];
  EXPECT_EQ(second.kernel, "second");
  EXPECT_EQ(second.launches.size(), 3u);
  for (const uint8_t byte : initial_bytes(second, second.arguments[0], 0, 20)) EXPECT_LT(byte, 10);
}

TEST(KernelCase, WrongCommentsAreErrorsThatNameTheLine) {
  for (const char* wrong :
       {"//@ buffer double random N", "//@ buffer int random", "//@ buffer int odd N", "//@ grid 5 groups 2",
        "//@ texture rgb zeros 2x2", "//@ sampler cubic", "//@", "//@ grid 0x1 group 1"}) {
    const auto cases = parse_cases(std::string("\n") + wrong + "\nkernel void f() {}\n");
    ASSERT_FALSE(cases) << wrong;
    EXPECT_NE(cases.error().find("line 2"), std::string::npos) << cases.error();
  }
  EXPECT_FALSE(parse_cases("void f() {}"));
}

TEST(KernelCase, FewKernelsSeeEveryShapeOfThreadgroup) {
  std::set<std::string> seen;
  for (uint64_t i = 0; i < 9; ++i)
    for (const Launch& launch : default_launches(i)) seen.insert(to_text(launch));
  EXPECT_EQ(seen.size(), 9u);
}

}  // namespace
}  // namespace metalloid::differ
