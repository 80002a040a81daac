// The headers as such: each stands alone, they may come in any order and number, and what compute functions cannot do
// is there by name and an error where it is called.
#include <filesystem>
#include <set>

#include "compile_source.hpp"

namespace metalloid {
namespace {

std::set<std::string> headers() {
  const std::filesystem::path root = std::filesystem::path(METALLOID_SOURCE_DIR) / "src/msl/stdlib";
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root))
    if (entry.is_regular_file()) names.insert(std::filesystem::relative(entry.path(), root).string());
  return names;
}

TEST(StdlibHeaders, EveryHeaderCanBeIncludedAloneAndTwice) {
  ASSERT_GT(headers().size(), 40u);
  std::string everything;
  for (const std::string& name : headers()) {
    const std::string include = "#include <" + name + ">\n";
    everything += include;
    const CompileResult result =
        compile(include + include + "kernel void k(device metal::float4* p) { p[0] = p[1]; }\n", without_cache());
    EXPECT_TRUE(result.library && result.diagnostics.empty()) << name << "\n" << format(result.diagnostics);
  }
  const CompileResult result =
      compile(everything + "kernel void k(device float* p) { p[0] = p[1]; }\n", without_cache());
  EXPECT_TRUE(result.library && result.diagnostics.empty()) << format(result.diagnostics);
}

TEST(StdlibHeaders, TypesAreThereWithoutAnyIncludeAndNamesNeedTheirNamespace) {
  const CompileResult result = compile(R"(
kernel void k(device float4* p, device metal::half2* q, uint i [[thread_position_in_grid]]) {
  p[i] = metal::fmax(p[i], float4(as_type<float>(i))) + metal::precise::sin(p[i]) + ::metal::dot(float2(q[i]), float2(1));
}
)",
                                       without_cache());
  EXPECT_TRUE(result.library) << format(result.diagnostics);
}

TEST(StdlibHeaders, MatricesAreNamedInMetalsNamespaceAlone) {
  const CompileResult result = compile(R"(
#include <simd/simd.h>
struct float3x3 { float3 x, y, z; };
kernel void k(device float3* p, constant float3x3& m, constant metal::float3x3& n) { p[0] = n * m.y; }
)",
                                       without_cache());
  EXPECT_TRUE(result.library) << format(result.diagnostics);
  EXPECT_EQ(functions_of(R"(
using namespace simd;
kernel void k(device float3* p, constant float3x3& m, constant simd::half2x2& n) { p[0] = m * float3(float2(n[0]), 1); }
)"),
            "k");
}

TEST(StdlibHeaders, TheSimdLibraryHasMetalsTypes) {
  EXPECT_EQ(functions_of(R"(
#include <simd/simd.h>
static_assert(is_same_v<simd_float4, float4> && is_same_v<vector_float3, float3> && is_same_v<simd::uint2, uint2>);
static_assert(is_same_v<simd_float4x4, float4x4> && is_same_v<matrix_float3x3, float3x3> && is_same_v<simd::half2x2, half2x2>);
static_assert(is_same_v<simd::packed_float3, packed_float3> && is_same_v<simd_packed_float2, packed_float2>);
struct Uniforms { simd_float4x4 m; vector_uint2 size; simd::float3 eye; };
kernel void k(constant Uniforms& u, device float4* p) { p[0] = u.m * p[1] + float4(u.eye, u.size.x); }
)"),
            "k");
}

TEST(StdlibHeaders, LogsTakeFormatsAndArguments) {
  EXPECT_EQ(functions_of(R"(
#include <metal_logging>
constant os_log my_log("subsystem", "category");
kernel void k(device float4* p, constant int* n, uint i [[thread_position_in_grid]]) {
  os_log_default.log("nothing");
  os_log_default.log_info("thread %u of %d: %f", i, n[0], p[0].x);
  os_log_default.log_debug("%v4f %v2d %s", p[1], int2(1, 2), "text");
  my_log.log_error("%lu %hd %p", 1ul, short(2), p);
  my_log.log_fault("%f %f", 1.0h, bfloat(2));
}
)"),
            "k");
}

TEST(StdlibHeaders, VisibleFunctionTablesCallByIndex) {
  EXPECT_EQ(functions_of(R"(
[[visible]] float twice(float x) { return 2 * x; }
kernel void k(visible_function_table<float(float)> table [[buffer(0)]], visible_function_table<int(device int*, int)> other [[buffer(1)]],
              device float* p, device int* q, uint i [[thread_position_in_grid]]) {
  if (!is_null_visible_function_table(table) && i < table.size() && !table.empty()) p[i] = table[i](p[i]);
  auto f = other[0];
  if (f) q[0] = f(q, 3);
}
)"),
            "twice k");
}

TEST(StdlibHeaders, WhatComputeFunctionsCannotDoIsAnErrorWhereTheyCallIt) {
  const auto refusal = [](std::string_view source) {
    const CompileResult result = compile_source(source);
    if (!result.library) return errors_in(result.diagnostics);
    const auto code = result.library->code("k");
    return code ? std::string() : code.error();
  };
  const auto says = [&](std::string_view source, const char* reason) {
    const std::string said = refusal(source);
    EXPECT_NE(said.find(reason), said.npos) << source << said;
  };
  says("\nkernel void k(device float* p) { p[0] = dfdx(p[1]); }\n", "dfdx works in fragment functions only");
  says("\nkernel void k() { discard_fragment(); }\n", "discard_fragment works in fragment functions only");
  says("\nkernel void k() { raytracing::intersector<> i; i.accept_any_intersection(true); }\n", "ray");
  EXPECT_EQ(refusal("\nfloat slope(float x) { return dfdx(x); }\nkernel void k(device float* p) { p[0] = 1; }\n"), "");
}

}  // namespace
}  // namespace metalloid
