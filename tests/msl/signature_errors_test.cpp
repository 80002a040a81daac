// What is wrong with the head of a kernel: its attributes, its parameters, its name.
#include "compile_source.hpp"

namespace metalloid {
namespace {

// Other compilers' attributes are no reason to reject a kernel; a misspelt one is named.
TEST(SignatureErrors, AnUnknownAttributeIsAWarning) {
  const auto expect_warning = [](const char* source, const char* message) {
    const CompileResult result = compile_source(source);
    EXPECT_TRUE(result.library);
    ASSERT_EQ(result.diagnostics.size(), 1u) << format(result.diagnostics);
    EXPECT_EQ(result.diagnostics[0].severity, Severity::warning);
    EXPECT_EQ(result.diagnostics[0].message, message);
  };
  expect_warning("kernel void f(device float* out [[buffr(0)]]) { }", "unknown attribute 'buffr' ignored");
  expect_warning("[[max_threads(3)]] kernel void f() { }", "unknown attribute 'max_threads' ignored");
  expect_warning(R"(
    template <typename T> kernel void f(device T* out) { out[0] = 1; }
    template [[hostname("f_float")]] kernel void f<float>(device float*);)",
                 "unknown attribute 'hostname' ignored");
}

TEST(SignatureErrors, AParameterWithAMisspeltAttributeIsNoInput) {
  const CompileResult result = compile_source("kernel void f(uint i [[thread_position_in_gird]]) { }");
  EXPECT_FALSE(result.library);
  EXPECT_NE(errors_in(result.diagnostics).find("parameter 'i' of a kernel must be a buffer"), std::string::npos);
}

TEST(SignatureErrors, AnAttributeStandsWhereItBelongs) {
  expect_error(R"(
    [[$buffer(0)]] kernel void f() { })",
               "'buffer' belongs on a parameter, a member or a variable");
  expect_error(R"(
    kernel void f(device float* out [[$max_total_threads_per_threadgroup(32)]]) { })",
               "'max_total_threads_per_threadgroup' belongs on a function");
}

TEST(SignatureErrors, AttributesCountTheirArguments) {
  expect_error(R"(
    kernel void f(device float* out [[$buffer]]) { })",
               "'buffer' attribute takes one argument");
  expect_error(R"(
    kernel void f(device float* out [[$buffer(1, 2)]]) { })",
               "'buffer' attribute takes one argument");
  expect_error(R"(
    kernel void f(uint i [[$thread_position_in_grid(1)]]) { })",
               "'thread_position_in_grid' attribute takes no arguments");
}

TEST(SignatureErrors, IndicesAreConstantsThatAreNotNegative) {
  expect_error(R"(
    kernel void f(device float* out [[$buffer(-1)]]) { })",
               "the argument of 'buffer' must not be negative");
  expect_error(R"(
    constant int n [[function_constant(0)]];
    kernel void f(device float* out [[$buffer(n)]]) { })",
               "the argument of 'buffer' must be a constant integer");
}

TEST(SignatureErrors, AKernelReturnsNothing) {
  expect_error(R"(
    kernel float $f(device float* out) { return 1; })",
               "kernel 'f' must return void");
}

TEST(SignatureErrors, AParameterOfAKernelComesFromSomewhere) {
  expect_error(R"(
    kernel void f(float $x) { })",
               "parameter 'x' of a kernel must be a buffer");
  expect_error(R"(
    kernel void f(thread float* $x) { })",
               "parameter 'x' of a kernel must name its address space: device, constant or threadgroup");
  expect_error(R"(
    kernel void f(float* $x) { })",
               "parameter 'x' of a kernel must name its address space: device, constant or threadgroup");
  expect_error(R"(
    struct S { int a; };
    kernel void f(S $x [[buffer(0)]]) { })",
               "parameter 'x' of a kernel must be a buffer");
}

TEST(SignatureErrors, TwoArgumentsDoNotShareAnIndex) {
  expect_error(R"(
    kernel void f(device float* a [[buffer(1)]], constant float& $b [[buffer(1)]]) { })",
               "'a' and 'b' both have buffer index 1");
  expect_error(R"(
    kernel void f(texture2d<float> a [[texture(0)]], texture3d<half> $b [[texture(0)]]) { })",
               "'a' and 'b' both have texture index 0");
  expect_error(R"(
    kernel void f(array<texture2d<float>, 4> a [[texture(2)]], texture2d<float> $b [[texture(5)]]) { })",
               "'a' and 'b' both have texture index 5");
  expect_error(R"(
    kernel void f(sampler a [[sampler(3)]], sampler $b [[sampler(3)]]) { })",
               "'a' and 'b' both have sampler index 3");
  expect_error(R"(
    kernel void f(threadgroup float* a [[threadgroup(0)]], threadgroup float* $b [[threadgroup(0)]]) { })",
               "'a' and 'b' both have threadgroup index 0");
}

TEST(SignatureErrors, AnIndexIsWithinMetalsLimits) {
  expect_error(R"(
    kernel void f(device float* $a [[buffer(31)]]) { })",
               "'buffer' index 31 is too large: the last one is 30");
  expect_error(R"(
    kernel void f(sampler $a [[sampler(16)]]) { })",
               "'sampler' index 16 is too large: the last one is 15");
  expect_error(R"(
    kernel void f(array<texture2d<float>, 100> $a [[texture(100)]]) { })",
               "'texture' index 100 is too large: the last one is 127");
}

TEST(SignatureErrors, AnIndexIsOfTheArgumentsKind) {
  expect_error(R"(
    kernel void f(device float* $a [[texture(0)]]) { })",
               "'a' is a buffer: its index is written [[buffer(n)]], not [[texture(n)]]");
  expect_error(R"(
    kernel void f(texture2d<float> $a [[buffer(0)]]) { })",
               "'a' is a texture: its index is written [[texture(n)]], not [[buffer(n)]]");
  expect_error(R"(
    kernel void f(threadgroup float* $a [[buffer(0)]]) { })",
               "'a' is threadgroup memory: its index is written [[threadgroup(n)]], not [[buffer(n)]]");
}

TEST(SignatureErrors, GridValuesAreUnsignedIntegers) {
  for (const char* type : {"float", "half", "uint4", "bool", "uchar", "float3"})
    expect_error("\nkernel void f(" + std::string(type) + " $i [[thread_position_in_grid]]) {}",
                 "'thread_position_in_grid' must be ushort or uint, or a vector of two or three of them");
  for (const char* attribute : {"thread_index_in_simdgroup", "thread_index_in_threadgroup", "threads_per_simdgroup",
                                "simdgroup_index_in_threadgroup", "quadgroups_per_threadgroup"})
    expect_error("\nkernel void f(uint2 $i [[" + std::string(attribute) + "]]) {}",
                 "'" + std::string(attribute) + "' must be ushort or uint");
}

TEST(SignatureErrors, ThreadLimitsAreWithinMetals) {
  for (const char* limit : {"0", "1025"})
    expect_error("\n[[max_total_threads_per_threadgroup(" + std::string(limit) + ")]] kernel void $f() {}",
                 "'max_total_threads_per_threadgroup' must be between 1 and 1024");
}

TEST(SignatureErrors, WhatIsOutsideOfFunctionsIsReadOnlyAndForKernels) {
  expect_error(R"(
    uint position [[thread_position_in_grid]];
    kernel void f(device uint* x) { x[position] = 1; position $= 3; })",
               "cannot assign to variable 'position'", 1);
  expect_error(R"(
    float $position [[thread_position_in_grid]];
    kernel void f(device uint* x) { x[0] = 1; })",
               "'thread_position_in_grid' must be ushort or uint, or a vector of two or three of them");
  expect_error(R"(
    device float* $values [[buffer(0)]];
    kernel void f() { values[0] = 1; })",
               "'values' has [[buffer]] outside of functions, which is not supported: make it a parameter");
}

TEST(SignatureErrors, TwoFunctionsDoNotShareAName) {
  expect_error(R"(
    [[host_name("same")]] kernel void f() {}
    [[host_name("same")]] kernel void $g() {})",
               "a function named 'same' is already in this library; give each its own host_name");
  expect_error(R"(
    namespace a { kernel void f() {} }
    [[host_name("a::f")]] kernel void $g() {})",
               "a function named 'a::f' is already in this library");
}

TEST(SignatureErrors, AnInstantiationNamesATemplateThatExists) {
  expect_error(R"(
    template <typename T> kernel void f(device T* out) { out[0] = 1; }
    template [[host_name("f_float")]] kernel void $f<float>(device int*);)",
               "no template 'f' that fits this instantiation has been declared", 1);
  expect_error(R"(
    template <typename T> kernel void f(device T* out) { out[0] = 1; }
    template [[host_name("g_float")]] kernel void $g<float>(device float*);)",
               "no template 'g' that fits this instantiation has been declared");
}

TEST(SignatureErrors, OptionalArgumentsNameAFunctionConstant) {
  expect_error(R"(
    constant bool has_bias [[function_constant(0)]];
    kernel void f(device float* $b [[buffer(0), function_constant(has_bais)]]) { })",
               "'has_bais' in the attribute of 'b' is not a function constant");
}

TEST(SignatureErrors, FunctionConstantsHaveTheirOwnIndexAndAScalarOrVectorType) {
  expect_error(R"(
    constant int a [[function_constant(0)]];
    constant int $b [[function_constant(0)]];
    kernel void f() {})",
               "function constants 'a' and 'b' both have index 0");
  expect_error(R"(
    struct S { int a; };
    constant S $s [[function_constant(0)]];
    kernel void f() {})",
               "function constant 's' must be a scalar or a vector");
  expect_error(R"(
    constant float4x4 $m [[function_constant(0)]];
    kernel void f() {})",
               "function constant 'm' must be a scalar or a vector");
}

TEST(SignatureErrors, ThereAre31Buffers) {
  std::string source = "\nkernel void f(device int* a0";
  for (int i = 1; i < 31; ++i) source += ", device int* a" + std::to_string(i);
  EXPECT_EQ(functions_of(source + ") { a0[0] = 1; }"), "f");
  expect_error(source + ", device int* $one_more) { a0[0] = 1; }",
               "no buffer index is left for 'one_more': there are 31");
}

TEST(SignatureErrors, RayTracingIsNamedAsTheReason) {
  expect_error(R"(
    kernel void f(raytracing::instance_acceleration_structure $scene, device float* out) { out[0] = 1; })",
               "parameter 'scene' is for ray tracing, which no device here has");
}

}  // namespace
}  // namespace metalloid
