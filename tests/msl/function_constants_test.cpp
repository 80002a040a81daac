// Constants that get their values when a pipeline is made.
#include "compile_source.hpp"

namespace metalloid {
namespace {

std::string names_of(const std::vector<FunctionConstant>& constants) {
  std::string text;
  for (const FunctionConstant& constant : constants)
    text += (text.empty() ? "" : " ") + constant.name + ":" + std::to_string(constant.index) +
            (constant.required ? "" : "?");
  return text;
}

TEST(FunctionConstants, AreReflectedWithIndexNameAndType) {
  const auto library = library_of(R"(
    constant bool a [[function_constant(3)]];
    constant int b [[function_constant(0)]];
    static constant float4 c [[function_constant(10)]];
    constant ushort2 d [[function_constant(200)]];
    [[function_constant(4)]] constant half e;
    namespace inner { constant uint f [[function_constant(5)]]; }
    const constant char g [[function_constant(6)]];
    kernel void k(device float* out) { out[0] = a + b + c.x; })");
  ASSERT_TRUE(library);
  const auto& constants = library->function_constants();
  EXPECT_EQ(names_of(constants), "a:3 b:0 c:10 d:200 e:4 inner::f:5 g:6");
  const DataType types[] = {DataType::bool1, DataType::int1,  DataType::float4, DataType::ushort2,
                            DataType::half1, DataType::uint1, DataType::char1};
  ASSERT_EQ(constants.size(), std::size(types));
  for (size_t i = 0; i < std::size(types); ++i) EXPECT_EQ(constants[i].data_type, types[i]) << constants[i].name;
}

TEST(FunctionConstants, BelongToTheFunctionsThatUseThem) {
  const auto library = library_of(R"(
    constant int a [[function_constant(0)]];
    constant int b [[function_constant(1)]];
    constant int c [[function_constant(2)]];
    constant int twice_b = b * 2;
    constant int more = twice_b + 1;
    int helper() { return c; }
    kernel void uses_a(device int* out) { out[0] = a; }
    kernel void uses_b(device int* out) { out[0] = more; }
    kernel void uses_c(device int* out) { out[0] = helper() > 3 ? a : 7; }
    kernel void uses_none(device int* out) { out[0] = 1; })");
  ASSERT_TRUE(library);
  EXPECT_EQ(names_of(code_of(*library, "uses_a").function_constants), "a:0");
  EXPECT_EQ(names_of(code_of(*library, "uses_b").function_constants), "b:1");
  EXPECT_EQ(names_of(code_of(*library, "uses_c").function_constants), "a:0 c:2");
  EXPECT_EQ(names_of(code_of(*library, "uses_none").function_constants), "");
  EXPECT_TRUE(mentions(code_of(*library, "uses_b"), "metal.function_constant.1"));
}

TEST(FunctionConstants, NeedNoValueWhereTheSourceAsksWhetherTheyHaveOne) {
  const auto library = library_of(R"(
    constant int a [[function_constant(0)]];
    constant int b [[function_constant(1)]];
    constant float c [[function_constant(2)]];
    constant int a_or_default = is_function_constant_defined(a) ? a : 16;
    kernel void f(device float* out) {
      out[0] = a_or_default + b;
      if (is_function_constant_defined(c)) out[1] = c;
    })");
  ASSERT_TRUE(library);
  EXPECT_EQ(names_of(library->function_constants()), "a:0? b:1 c:2?");
  EXPECT_EQ(names_of(code_of(*library, "f").function_constants), "a:0? b:1 c:2?");
}

TEST(FunctionConstants, AreUsedInEveryKindOfExpression) {
  EXPECT_EQ(functions_of(R"(
    constant bool flag [[function_constant(0)]];
    constant uint n [[function_constant(1)]];
    constant float3 v [[function_constant(2)]];
    constant bool other = flag && n > 3;
    constant uint mask = (1u << n) - 1;
    constant float3 scaled = v * 2.0f;
    enum { limit = 4 };
    template <typename T> T pick(T x, T y) { return other ? x : y; }
    kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
      switch (n) { case 1: out[0] = 1; break; default: out[0] = limit; }
      for (uint k = 0; k < n; ++k) out[k] += scaled.y;
      if (!flag) return;
      auto inside = [&](uint x) { return x & mask; };
      out[i] = pick(float(inside(i)), v.z) + (flag ? 1 : 2);
    })"),
            "f");
}

TEST(FunctionConstants, SizePrivateAndThreadgroupArrays) {
  const auto library = library_of(R"(
    constant int n [[function_constant(0)]];
    constant int m = n * 2 + 1;
    kernel void f(device float* out, uint i [[thread_index_in_threadgroup]]) {
      float mine[n];
      half pairs[m][2];
      threadgroup float ours[m];
      threadgroup float2 rows[n][4];
      mine[0] = i; pairs[1][1] = i; ours[i] = i; rows[0][1] = i;
      out[i] = mine[0] + pairs[1][1] + ours[0] + rows[0][1].x;
    })");
  ASSERT_TRUE(library);
  const Code code = code_of(*library, "f");
  EXPECT_EQ(names_of(code.function_constants), "n:0");
  EXPECT_EQ(code.static_threadgroup_memory, 0u) << "its size is not known yet";
}

TEST(FunctionConstants, ChooseOptionalArguments) {
  const Function f = function_of(R"(
    constant bool has_bias [[function_constant(0)]];
    constant int kind [[function_constant(1)]];
    constant bool wide = kind == 2;
    constant bool narrow = !wide;
    kernel void f(device float* out [[buffer(0)]], const device float* bias [[buffer(1), function_constant(has_bias)]],
                  const device float4* w [[buffer(2)]] [[function_constant(wide)]],
                  const device half* h [[function_constant(narrow), buffer(2)]],
                  texture2d<float> t [[texture(0), function_constant(has_bias)]]) {
      float x = wide ? w[0].x : h[0];
      if (has_bias) x += bias[0] + t.read(uint2(0)).x;
      out[0] = x;
    })");
  ASSERT_EQ(f.parameters.size(), 5u);
  EXPECT_EQ(f.parameters[0].function_constant, "");
  EXPECT_EQ(f.parameters[1].function_constant, "has_bias");
  EXPECT_EQ(f.parameters[2].function_constant, "wide");
  EXPECT_EQ(f.parameters[2].index, 2u);
  EXPECT_EQ(f.parameters[3].function_constant, "narrow");
  EXPECT_EQ(f.parameters[3].index, 2u) << "the constants choose one of the two";
  EXPECT_EQ(f.parameters[4].function_constant, "has_bias");
}

TEST(FunctionConstants, WorkInTemplateKernels) {
  const auto library = library_of(R"(
    constant bool causal [[function_constant(20)]];
    template <typename T, int N> struct Scale { static T apply(T x) { return causal ? x * T(N) : x; } };
    template <typename T> kernel void f(device T* out) { out[0] = Scale<T, 3>::apply(out[1]); }
    template [[host_name("f_float")]] kernel void f<float>(device float*);
    template [[host_name("f_half")]] kernel void f<half>(device half*);)");
  ASSERT_TRUE(library);
  EXPECT_EQ(names_of(code_of(*library, "f_float").function_constants), "causal:20");
  EXPECT_EQ(names_of(code_of(*library, "f_half").function_constants), "causal:20");
}

}  // namespace
}  // namespace metalloid
