// Simdgroup matrices, lowered, combined and run on an emulated SIMD-group: products of random matrices of all
// combinations of types, on the tensor cores' instructions as the PTX manual describes them, against sums in double.
// What matrices hold in which lane is checked by kernels that fill and read them lane by lane.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>

#include "emulated_simdgroup.hpp"

namespace metalloid::nvidia {
namespace {

constexpr const char* types[] = {"f16", "bf16", "f32"};

std::string in_llvm(const std::string& type) {
  return type == "f16" ? "half" : type == "bf16" ? "bfloat" : "float";
}
std::string vector_of(const std::string& type) {
  return "<2 x " + in_llvm(type) + ">";
}

// A kernel of `tiles` by 1 products of `depth` steps: A has 8 * tiles rows and 8 * depth columns, B has 8 columns, C is
// added to and stored; all are float in memory, and rounded to the type of the matrix.
std::string gemm(const std::string& c, const std::string& a, const std::string& b, unsigned tiles, unsigned depth) {
  std::string body;
  unsigned made = 0;
  const auto name = [&] { return "%v" + std::to_string(made++); };
  const auto load = [&](const std::string& type, const std::string& pointer, unsigned offset, unsigned stride) {
    const std::string at = name(), loaded = name();
    body +=
        "  " + at + " = getelementptr float, ptr addrspace(1) " + pointer + ", i64 " + std::to_string(offset) + "\n";
    body += "  " + loaded + " = call <2 x float> @metal.simdgroup_load.device.f32(ptr addrspace(1) " + at + ", i64 " +
            std::to_string(stride) + ", i1 false)\n";
    if (type == "f32") return loaded;
    const std::string narrow = name();
    body += "  " + narrow + " = fptrunc <2 x float> " + loaded + " to " + vector_of(type) + "\n";
    return narrow;
  };
  std::vector<std::string> sums;
  for (unsigned i = 0; i < tiles; ++i) sums.push_back(load(c, "%c", 64 * i, 8));
  for (unsigned k = 0; k < depth; ++k) {
    const std::string right = load(b, "%b", 64 * k, 8);
    for (unsigned i = 0; i < tiles; ++i) {
      const std::string left = load(a, "%a", 64 * depth * i + 8 * k, 8 * depth), sum = name();
      body += "  " + sum + " = call " + vector_of(c) + " @metal.simdgroup_multiply_accumulate." + c + "." + a + "." +
              b + "(" + vector_of(a) + " " + left + ", " + vector_of(b) + " " + right + ", " + vector_of(c) + " " +
              sums[i] + ")\n";
      sums[i] = sum;
    }
  }
  for (unsigned i = 0; i < tiles; ++i) {
    std::string result = sums[i];
    if (c != "f32") {
      result = name();
      body += "  " + result + " = fpext " + vector_of(c) + " " + sums[i] + " to <2 x float>\n";
    }
    const std::string at = name();
    body += "  " + at + " = getelementptr float, ptr addrspace(1) %c, i64 " + std::to_string(64 * i) + "\n";
    body += "  call void @metal.simdgroup_store.device.f32(<2 x float> " + result + ", ptr addrspace(1) " + at +
            ", i64 8, i1 false)\n";
  }
  return "define ptx_kernel void @kernel(ptr addrspace(1) noalias %a, ptr addrspace(1) noalias %b, ptr addrspace(1) "
         "noalias %c) convergent {\n" +
         body +
         "  ret void\n}\n"
         "declare <2 x float> @metal.simdgroup_load.device.f32(ptr addrspace(1), i64, i1) convergent memory(read)\n"
         "declare void @metal.simdgroup_store.device.f32(<2 x float>, ptr addrspace(1), i64, i1) convergent\n"
         "declare " +
         vector_of(c) + " @metal.simdgroup_multiply_accumulate." + c + "." + a + "." + b + "(" + vector_of(a) + ", " +
         vector_of(b) + ", " + vector_of(c) + ") convergent memory(none) nounwind willreturn\n";
}

float as(const std::string& type, float number) {
  if (type == "f16") return static_cast<float>(static_cast<_Float16>(number));
  if (type == "f32") return number;
  const auto bits = std::bit_cast<uint32_t>(number);
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000u);
}

struct Case {
  uint32_t capability;
  unsigned tiles, depth;
};

class Products : public testing::TestWithParam<Case> {};

TEST_P(Products, AreAsAccurateAsFloat) {
  const auto [capability, tiles, depth] = GetParam();
  std::mt19937 random(7);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (const std::string c : types)
    for (const std::string a : types)
      for (const std::string b : types) {
        EmulatedSimdgroup code(LoweredKernel(gemm(c, a, b, tiles, depth), {capability}));
        std::vector<float> left(64 * tiles * depth), right(64 * depth), sums(64 * tiles);
        for (float& x : left) x = as(a, uniform(random));
        for (float& x : right) x = as(b, uniform(random));
        for (float& x : sums) x = as(c, uniform(random));
        const std::vector<float> before = sums;
        code.run(~0u, ~0u, {left.data(), right.data(), sums.data()});
        for (size_t row = 0; row < 8 * tiles; ++row)
          for (size_t column = 0; column < 8; ++column) {
            double sum = before[8 * row + column], size = std::fabs(sum);
            for (size_t k = 0; k < 8 * depth; ++k) {
              const double product = double(left[row * 8 * depth + k]) * right[8 * k + column];
              sum += product;
              size += std::fabs(product);
            }
            // Of the sum of sizes: 2^-21 for what three TF32 products leave out and float sums round off; each step
            // rounds to C, too.
            const double rounding = c == "f32" ? 0 : c == "f16" ? 0x1p-11 : 0x1p-8;
            EXPECT_NEAR(sums[8 * row + column], sum, size * (0x1p-21 + rounding * depth))
                << c << " " << a << " " << b << " " << row << " " << column;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Lowered, Products,
                         testing::Values(Case{75, 1, 1}, Case{75, 3, 2}, Case{80, 1, 1}, Case{80, 2, 2}, Case{90, 3, 3},
                                         Case{90, 4, 4}),
                         [](const auto& info) {
                           return "sm_" + std::to_string(info.param.capability) + "_of_" +
                                  std::to_string(info.param.tiles) + "_by_" + std::to_string(info.param.depth);
                         });

size_t instructions(const std::string& text, const char* name) {
  return count(text, std::string("call { float, float, float, float } @llvm.nvvm.mma.") + name);
}

TEST(CombinedProducts, PairsOfHalvesFillTheLargestInstruction) {
  const std::string text = LoweredKernel(gemm("f32", "f16", "f16", 4, 4), {90}).ir();
  EXPECT_EQ(instructions(text, "m16n8k16.row.col.f32.f32"), 4u) << text;  // 4 * 4 of 8×8×8, four in each
  EXPECT_EQ(instructions(text, "m16n8k8"), 0u) << text;
  EXPECT_EQ(count(text, "movmatrix"), 4u) << text;  // each right operand once
}

TEST(CombinedProducts, FloatsTakeThreeInstructionsForTwoProducts) {
  const std::string text = LoweredKernel(gemm("f32", "f32", "f32", 4, 1), {80}).ir();
  EXPECT_EQ(instructions(text, "m16n8k8.row.col.tf32"), 6u) << text;
}

TEST(CombinedProducts, SumsOfFourAreAddedAtOnce) {
  const std::string text = LoweredKernel(gemm("f32", "f32", "f32", 2, 4), {80}).ir();
  EXPECT_EQ(instructions(text, "m16n8k8.row.col.tf32"), 12u) << text;
  EXPECT_EQ(count(text, "= fadd float"), 4u) << text;  // of a lane's elements, not of what is split
}

TEST(CombinedProducts, WaitWhenTheyAreTakenApart) {
  const std::string text = LoweredKernel(R"(
define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %c) convergent {
  %first = load <2 x float>, ptr addrspace(1) %a
  %at = getelementptr <2 x float>, ptr addrspace(1) %a, i32 1
  %second = load <2 x float>, ptr addrspace(1) %at
  %d = call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> %first, <2 x float> %first, <2 x float> zeroinitializer)
  %x = extractelement <2 x float> %d, i64 0
  %e = call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> %second, <2 x float> %first, <2 x float> zeroinitializer)
  %y = extractelement <2 x float> %e, i64 1
  %s = fmul float %x, %y
  store float %s, ptr addrspace(1) %c
  ret void
}
declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>) convergent memory(none) nounwind willreturn
)",
                                         {90})
                               .ir();
  EXPECT_EQ(instructions(text, "m16n8k8.row.col.tf32"), 3u) << text;
}

TEST(CombinedProducts, FloatsMadeOfHalvesAreHalves) {
  const std::string text = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %c) convergent {
  %lane = call i32 @metal.thread_index_in_simdgroup()
  %at = getelementptr <2 x half>, ptr addrspace(1) %a, i32 %lane
  %h = load <2 x half>, ptr addrspace(1) %at
  %x = extractelement <2 x half> %h, i64 0
  %y = extractelement <2 x half> %h, i64 1
  %fx = fpext half %x to float
  %fy = fpext half %y to float
  %v = insertelement <2 x float> poison, float %fx, i64 0
  %f = insertelement <2 x float> %v, float %fy, i64 1
  %d = call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> %f, <2 x float> %f, <2 x float> zeroinitializer)
  %to = getelementptr <2 x float>, ptr addrspace(1) %c, i32 %lane
  store <2 x float> %d, ptr addrspace(1) %to
  ret void
}
declare i32 @metal.thread_index_in_simdgroup()
declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>) convergent memory(none) nounwind willreturn
)";
  const std::string lowered = LoweredKernel(text, {90}).ir();
  EXPECT_EQ(instructions(lowered, "m16n8k8.row.col.f32.f32"), 1u) << lowered;
  EXPECT_EQ(instructions(lowered, "m16n8k8.row.col.tf32"), 0u) << lowered;
}

TEST(CombinedProducts, OfInfinitiesAreInfinite) {
  EmulatedSimdgroup code(LoweredKernel(gemm("f32", "f32", "f32", 1, 1), {90}));
  std::vector<float> left(64, 1), right(64, 1), sums(64, 0);
  left[3 * 8 + 2] = -std::numeric_limits<float>::infinity();
  code.run(~0u, ~0u, {left.data(), right.data(), sums.data()});
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(sums[i], i / 8 == 3 ? -std::numeric_limits<float>::infinity() : 8) << i;
}

// In either order of lanes, with and without transposition: load, give what a lane sees to its place, store.
TEST(MatrixElements, AreInTheLanesThatMetalSays) {
  for (const bool multiplies : {false, true})
    for (const std::string transpose : {"false", "true"}) {
      std::string text = R"(
define ptx_kernel void @kernel(ptr addrspace(1) %a, ptr addrspace(1) %lanes, ptr addrspace(1) %c) convergent {
  %lane = call i32 @metal.thread_index_in_simdgroup()
  %m = call <2 x float> @metal.simdgroup_load.device.f32(ptr addrspace(1) %a, i64 11, i1 TRANSPOSE)
  %to = getelementptr <2 x float>, ptr addrspace(1) %lanes, i32 %lane
  store <2 x float> %m, ptr addrspace(1) %to
  call void @metal.simdgroup_store.device.f32(<2 x float> %m, ptr addrspace(1) %c, i64 9, i1 TRANSPOSE)
  ret void
}
declare i32 @metal.thread_index_in_simdgroup()
declare <2 x float> @metal.simdgroup_load.device.f32(ptr addrspace(1), i64, i1) convergent memory(read)
declare void @metal.simdgroup_store.device.f32(<2 x float>, ptr addrspace(1), i64, i1) convergent
)";
      for (size_t at; (at = text.find("TRANSPOSE")) != text.npos;) text.replace(at, 9, transpose);
      if (multiplies)
        text += R"(
define internal void @multiplies() {
  call <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float> zeroinitializer, <2 x float> zeroinitializer, <2 x float> zeroinitializer)
  ret void
}
declare <2 x float> @metal.simdgroup_multiply_accumulate.f32.f32.f32(<2 x float>, <2 x float>, <2 x float>) convergent memory(none)
)";
      EmulatedSimdgroup code(LoweredKernel(text, {90}));
      std::vector<float> matrix(8 * 11), in_lanes(64), stored(8 * 9);
      for (size_t i = 0; i < matrix.size(); ++i) matrix[i] = static_cast<float>(i);
      code.run(~0u, ~0u, {matrix.data(), in_lanes.data(), stored.data()});
      for (size_t lane = 0; lane < 32; ++lane)
        for (size_t i = 0; i < 2; ++i) {
          const size_t row = (lane / 4 & 4) + (lane / 2 & 3), column = (lane / 4 & 2) * 2 + (lane & 1) * 2 + i;
          const auto at = [&](size_t stride) {
            return transpose == "true" ? column * stride + row : row * stride + column;
          };
          EXPECT_EQ(in_lanes[2 * lane + i], matrix[at(11)]) << lane << " " << multiplies << transpose;
          EXPECT_EQ(stored[at(9)], matrix[at(11)]) << lane << " " << multiplies << transpose;
        }
    }
}

}  // namespace
}  // namespace metalloid::nvidia
