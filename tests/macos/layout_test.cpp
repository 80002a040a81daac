// A struct that a program and its shaders share has one layout: the text below is compiled both as C++ and as Metal.
#include <gtest/gtest.h>
#include <simd/simd.h>

#include <cstddef>
#include <metalloid/compiler.hpp>
#include <string>

// clang-format off
#define SHARED(...) __VA_ARGS__ static const std::string shared_source = #__VA_ARGS__;
SHARED(
struct Shared {
  char c0; simd::float2 float2_member;
  char c1; simd::float3 float3_member;
  char c2; simd::float4 float4_member;
  char c3; simd::int2 int2_member;
  char c4; simd::int3 int3_member;
  char c5; simd::uint4 uint4_member;
  char c6; simd::short3 short3_member;
  char c7; simd::ushort2 ushort2_member;
  char c8; simd::uchar3 uchar3_member;
  char c9; simd::char4 char4_member;
  char ca; simd::float2x2 float2x2_member;
  char cb; simd::float3x3 float3x3_member;
  char cc; simd::float4x3 float4x3_member;
  char cd; simd::float4x4 float4x4_member;
  char ce; simd::float3 array_member[3];
  char cf; simd_float3 last;
};
)
// clang-format on

namespace {

TEST(Layout, IsTheSameInAProgramAndInItsShaders) {
  metalloid::CompileOptions options;
  options.cache = false;
  const auto result =
      metalloid::compile("#include <metal_stdlib>\n#include <simd/simd.h>\nusing namespace metal;\n" + shared_source +
                             "\nkernel void f(device Shared& shared [[buffer(0)]]) { shared.c0 = 1; }",
                         options);
  ASSERT_TRUE(result.library) << metalloid::format(result.diagnostics);
  const metalloid::Type& type = result.library->functions().front().parameters.front().type;
  EXPECT_EQ(type.size, sizeof(Shared));
  EXPECT_EQ(type.alignment, alignof(Shared));
  size_t compared = 0;
  const auto expect = [&](const char* name, size_t offset, size_t size) {
    for (const metalloid::StructMember& member : type.members)
      if (member.name == name) {
        EXPECT_EQ(member.offset, offset) << name;
        EXPECT_EQ(member.type.size, size) << name;
        ++compared;
      }
  };
#define EXPECT_SAME(member) expect(#member, offsetof(Shared, member), sizeof(Shared::member))
  EXPECT_SAME(float2_member);
  EXPECT_SAME(float3_member);
  EXPECT_SAME(float4_member);
  EXPECT_SAME(int2_member);
  EXPECT_SAME(int3_member);
  EXPECT_SAME(uint4_member);
  EXPECT_SAME(short3_member);
  EXPECT_SAME(ushort2_member);
  EXPECT_SAME(uchar3_member);
  EXPECT_SAME(char4_member);
  EXPECT_SAME(float2x2_member);
  EXPECT_SAME(float3x3_member);
  EXPECT_SAME(float4x3_member);
  EXPECT_SAME(float4x4_member);
  EXPECT_SAME(array_member);
  EXPECT_SAME(last);
#undef EXPECT_SAME
  EXPECT_EQ(compared, 16u);
}

}  // namespace
