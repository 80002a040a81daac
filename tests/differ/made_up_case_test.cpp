// Arguments for any kernel, made up from what its library says.
#include "differ/made_up_case.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "differ/run.hpp"

namespace metalloid::differ {
namespace {

constexpr const char* source = R"(
#include <metal_stdlib>
using namespace metal;
constant bool is_scaled [[function_constant(0)]];
constant uint width [[function_constant(1)]];
struct Sizes { uint rows; float3 scale; half2x3 matrix; bool flags[2]; };
kernel void takes_much(device const float4* in, device Sizes* sizes, constant int& count, device void* anything,
                       texture2d<float, access::read> image, sampler state, threadgroup float* a, threadgroup float* b,
                       device float* factors [[function_constant(is_scaled)]],
                       uint2 position [[thread_position_in_grid]]) {
  sizes[position.x].scale = is_scaled ? in[0].x * factors[0] + width : in[0].y;
}
kernel void takes_a_pointer_to_pointers(device float* device* rows) {}
kernel void is_flat(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 0; }
)";

class MadeUpCase : public ::testing::Test {
 protected:
  void SetUp() override {
    auto compiled = compile_source(source);
    ASSERT_TRUE(compiled) << compiled.error();
    library = *compiled;
  }

  Result<KernelCase> make(const char* kernel, uint64_t seed) {
    return made_up_case(*library, *library->find(kernel), seed);
  }

  std::shared_ptr<const Library> library;
};

TEST_F(MadeUpCase, HasAllArgumentsThatTheConstantsLeave) {
  const auto with = make("takes_much", 0), without = make("takes_much", 1);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->arguments.size(), 9u);
  EXPECT_EQ(without->arguments.size(), 8u);
  ASSERT_EQ(with->constants.size(), 2u);
  EXPECT_EQ(with->constants[0].bytes, std::vector<uint8_t>{1});
  EXPECT_EQ(with->constants[1].bytes.size(), 4u);
  EXPECT_EQ(without->constants[0].bytes, std::vector<uint8_t>{0});
}

TEST_F(MadeUpCase, StructsHaveTheFieldsOfTheirMembers) {
  const auto made = make("takes_much", 0);
  ASSERT_TRUE(made);
  const auto& sizes = std::get<StructuredArgument>(made->arguments[1]);
  EXPECT_EQ(sizes.stride, 64u);
  ASSERT_EQ(sizes.fields.size(), 1u + 3 + 6 + 2);
  EXPECT_EQ(sizes.fields[0].element, Element::u32);
  EXPECT_EQ(sizes.fields[1].offset, 16u);
  EXPECT_EQ(sizes.fields[4].element, Element::f16);
  EXPECT_EQ(sizes.fields[7].offset, 40u);  // the second column
  for (size_t at = 0; at < sizes.bytes.size(); at += sizes.stride) {
    const auto rows = static_cast<uint32_t>(number_at(Element::u32, &sizes.bytes[at]));
    EXPECT_TRUE(rows >= 1 && rows <= 64) << rows;
    EXPECT_LE(sizes.bytes[at + sizes.fields.back().offset], 1);
  }
}

TEST_F(MadeUpCase, ThreadgroupMemoryIsShared) {
  const auto made = make("takes_much", 0);
  ASSERT_TRUE(made);
  for (const size_t i : {6, 7}) EXPECT_EQ(std::get<ThreadgroupArgument>(made->arguments[i]).bytes, 16384u);
}

TEST_F(MadeUpCase, GridsHaveTheDimensionsThatAreAskedFor) {
  bool is_ever_high = false;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const auto flat = make("is_flat", seed), square = make("takes_much", seed);
    ASSERT_TRUE(flat && square);
    EXPECT_EQ(flat->launches[0].grid.y, 1u);
    EXPECT_EQ(square->launches[0].grid.z, 1u);
    is_ever_high |= square->launches[0].threadgroup.y > 1;
  }
  EXPECT_TRUE(is_ever_high);
}

TEST_F(MadeUpCase, ASeedAlwaysGivesTheSame) {
  const auto one = make("takes_much", 5), again = make("takes_much", 5), other = make("takes_much", 6);
  ASSERT_TRUE(one && again && other);
  const auto bytes = [](const KernelCase& made) { return std::get<StructuredArgument>(made.arguments[0]).bytes; };
  EXPECT_EQ(bytes(*one), bytes(*again));
  EXPECT_NE(bytes(*one), bytes(*other));
}

TEST_F(MadeUpCase, WhatCannotBeMadeUpIsNamed) {
  const auto made = make("takes_a_pointer_to_pointers", 0);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error(), "argument 'rows': what is in a pointer is not made up");
}

}  // namespace
}  // namespace metalloid::differ
