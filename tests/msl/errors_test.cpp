// What the compiler says about source that is wrong: one message in Metal's words at the user's own place, the `$`.
#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(Errors, ATypoComesWithASuggestion) {
  expect_error(R"(
    kernel void f(device float* out, uint index [[thread_position_in_grid]]) { out[$indx] = 1; })",
               "use of undeclared identifier 'indx'; did you mean 'index'?", 1);
  expect_error(R"(
    kernel void f(device float* out) { out[0] = $sqr(2.0f); })",
               "use of undeclared identifier 'sqr'; did you mean 'sqrt'?");
  expect_error(R"(
    kernel void f(device float* out) { $flaot4 v = 1; out[0] = v.x; })",
               "unknown type name 'flaot4'; did you mean 'float4'?");
}

TEST(Errors, AMissingIncludeIsNamed) {
  expect_error("\n#include $\"missing.h\"\nkernel void f() {}", "'missing.h' file not found");
  expect_error("\n#include $<missing_header>\nkernel void f() {}", "'missing_header' file not found");
}

TEST(Errors, TensorsOfMetal4AreNamedAsSuch) {
  expect_error("\n#include $<metal_tensor>\nkernel void f() {}",
               "'metal_tensor' is of Metal 4, whose tensors no device here has; use the kernels for GPUs without them");
  expect_error("\n#include $<MetalPerformancePrimitives/MetalPerformancePrimitives.h>\nkernel void f() {}",
               "'MetalPerformancePrimitives/MetalPerformancePrimitives.h' is of Metal 4, whose tensors no device here "
               "has; use the kernels for GPUs without them");
}

TEST(Errors, AnUnknownTypeIsNamed) {
  expect_error(R"(
    kernel void f(device $Foo* a) { })",
               "unknown type name 'Foo'");
  expect_error(R"(
    kernel void f(device float* a) { $matrx<float, 2, 2> m; })",
               "no template named 'matrx'; did you mean 'matrix'?");
}

TEST(Errors, AMissingSemicolonIsPointedAtWhereItShouldStand) {
  expect_error(R"(
    kernel void f(device float* out) {
      out[0] = 1$
      out[1] = 2;
    })",
               "expected ';' after expression");
  expect_error(R"(
    struct S { float x; }$
    kernel void f(device S* s) { s->x = 1; })",
               "expected ';' after struct");
}

TEST(Errors, ABraceThatIsNeverClosedIsOneError) {
  expect_error(R"(
    kernel void f(device float* out) {
      for (int i = 0; i < 3; ++i) {
        out[i] = 1;$)",
               "expected '}'", 1);
}

TEST(Errors, AKernelsHeadThatIsNeverClosedDoesNotBlameTheKeyword) {
  const CompileResult result = compile_source(R"(
    kernel void f(device float* out, uint i [[thread_position_in_grid]]
    { out[i] = 1; })");
  EXPECT_EQ(result.library, nullptr);
  EXPECT_EQ(result.diagnostics.at(0).message, "expected ')'");
  EXPECT_EQ(result.diagnostics.at(0).line, 3u);
  EXPECT_EQ(result.diagnostics.at(0).source_line, "    { out[i] = 1; }");
}

TEST(Errors, TheSourceLineBesideAMessageIsItsOwn) {
  const CompileResult result = compile("int a;\nfoo b;\nint c;", without_cache());
  ASSERT_EQ(result.diagnostics.size(), 1u) << format(result.diagnostics);
  EXPECT_EQ(result.diagnostics[0].source_line, "foo b;");
  EXPECT_EQ(format(result.diagnostics), "program_source:2:1: error: unknown type name 'foo'\nfoo b;\n^\n");
}

TEST(Errors, AnUndefinedFunctionIsNamedWhereItIsCalled) {
  expect_error(R"(
    float helper(float x);
    kernel void f(device float* out) { out[0] = $helper(1); })",
               "'helper' is declared but has no definition");
  expect_error(R"(
    template <typename T> T helper(T x);
    kernel void f(device float* out) { out[0] = $helper(1.0f); })",
               "'helper' is declared but has no definition");
  expect_error(R"(
    struct S { float get() const thread; };
    kernel void f(device float* out) { S s; out[0] = s.$get(); })",
               "'get' is declared but has no definition");
}

TEST(Errors, TemplatesWithoutAnEndAreStoppedWithAFewNotes) {
  expect_error(R"(
    template <int N> int depth() { return $depth<N + 1>() + 1; }
    kernel void f(device int* out) { out[0] = depth<0>(); })",
               "recursive template instantiation exceeded maximum depth of 400", 4);
  expect_error(R"(
    template <int N> struct Depth { static constexpr constant int value = $Depth<N + 1>::value + 1; };
    kernel void f(device int* out) { out[0] = Depth<0>::value; })",
               "recursive template instantiation exceeded maximum depth of 400", 4);
}

TEST(Errors, ConstantExpressionsWithoutAnEndAreStopped) {
  expect_error(R"(
    constexpr int forever(int n) { while (true) ++n; return n; }
    kernel void f(device int* out) { constexpr int $x = forever(0); out[0] = x; })",
               "constexpr variable 'x' must be initialized by a constant expression", 3);
}

TEST(Errors, WrongArgumentCountsSayWhatIsRequired) {
  expect_error(R"(
    float add(float a, float b) { return a + b; }
    kernel void f(device float* out) { out[0] = $add(1); })",
               "no matching function for call to 'add'", 1);
  expect_error(R"(
    kernel void f(device float* out) { out[0] = $clamp(1.0f, 2.0f); })",
               "no matching function for call to 'clamp': requires 3 arguments, but 2 were provided");
  expect_error(R"(
    kernel void f(device float* out) { out[0] = $sin(1.0f, 2.0f); })",
               "no matching function for call to 'sin': requires single argument 'x', but 2 arguments were provided");
  expect_error(R"(
    kernel void f() { $threadgroup_barrier(); })",
               "no matching function for call to 'threadgroup_barrier': requires single argument 'flags'");
}

TEST(Errors, AmbiguousCallsShowTheUsersCandidatesOnly) {
  expect_error(R"(
    void g(int, float) {}
    void g(float, int) {}
    kernel void f() { $g(1, 2); })",
               "call to 'g' is ambiguous", 2);
}

TEST(Errors, TypesAreNamedInMetalsWords) {
  expect_error(R"(
    kernel void f(device float4* out) { float $x = out[0]; })",
               "no viable conversion from 'device float4' to 'float'");
  expect_error(R"(
    kernel void f(device float4* out) { half4 $h = out[0]; })",
               "no viable conversion from 'device float4' to 'half4'");
  expect_error(R"(
    struct S { int a; };
    kernel void f(device float4* out) { S $s = out[0]; })",
               "no viable conversion from 'device float4' to 'S'");
  expect_error(R"(
    struct S { int a; };
    kernel void f(device float4* out, device S* s) { out[0] $= s[0]; })",
               "no viable overloaded '='");
  expect_error(R"(
    kernel void f(device uint* out) { device ushort* $p = out; })",
               "cannot initialize a variable of type 'device ushort *' with an lvalue of type 'device uint *'");
  expect_error(R"(
    kernel void f(device bfloat* out) { device half* $p = out; })",
               "cannot initialize a variable of type 'device half *' with an lvalue of type 'device bfloat *'");
  expect_error(R"(
    kernel void f(device float* out) { out$->x = 1; })",
               "member reference base type 'device float' is not a structure or union");
  expect_error(R"(
    kernel void f(device float3* out) { if ($out[0] > 1) out[0] = 1; })",
               "value of type 'bool3' is not contextually convertible to 'bool'");
}

TEST(Errors, WrongVectorSizesAreTypeErrors) {
  expect_error(R"(
    kernel void f(device float4* out, device float3* in) { out[0] = in[0] $+ out[1]; })",
               "invalid operands to binary expression ('device float3' and 'device float4')");
  expect_error(R"(
    kernel void f(device float4* out, device float3* in) { float3 $v = out[0]; })",
               "no viable conversion from 'device float4' to 'float3'");
  expect_error(R"(
    kernel void f(device float4* out) { out[0] = $float4(1, 2, 3); })",
               "no matching constructor for initialization of 'float4'");
  expect_error(R"(
    kernel void f(device float4* out, device float3* in) { out[0] = $float4(in[0], in[1]); })",
               "no matching constructor for initialization of 'float4'");
  expect_error(R"(
    kernel void f(device float* out, device float4* a, device float3* b) { out[0] = $dot(a[0], b[0]); })",
               "no matching function for call to 'dot'");
  expect_error(R"(
    kernel void f(device float3* out) { out[0].$xyzw = 1; })",
               "no member named 'xyzw' in 'float3'");
  expect_error(R"(
    kernel void f(device float4* out, device float3* in) { float4x4 m(1); out[0] = m $* in[0]; })",
               "invalid operands to binary expression ('float4x4' and 'device float3')");
  expect_error(R"(
    kernel void f(device int* out, device float2* in) { out[0] = $as_type<int>(in[0]); })",
               "as_type needs types of the same size");
}

TEST(Errors, VectorsOfClangsOwnKindConvertOnlyAtTheSameLength) {
  expect_error(R"(
    typedef half half6 __attribute__((ext_vector_type(6)));
    typedef float float8 __attribute__((ext_vector_type(8)));
    kernel void f(device half6* a, device float8* b) { b[0] = $float8(a[0]); })",
               "vectors convert to those of the same length only");
  expect_error(R"(
    typedef half half6 __attribute__((ext_vector_type(6)));
    struct S { typedef float float8 __attribute__((ext_vector_type(8))); };
    kernel void f(device half6* a, device S::float8* b) { b[0] = $S::float8(a[0]); })",
               "no conversion from vector 'half6' (vector of 6 'half' values) to vector 'S::float8'");
}

TEST(Errors, AddressSpacesDoNotMix) {
  expect_error(R"(
    kernel void f(constant float* in) { device float* $d = in; })",
               "cannot initialize a variable of type 'device float *' with an lvalue of type 'constant float *'");
  expect_error(R"(
    void g(device float* p) { *p = 1; }
    kernel void f(threadgroup float* t) { $g(t); })",
               "no matching function for call to 'g'", 1);
  expect_error(R"(
    kernel void f(threadgroup float* t) { thread float* p = $t; *p = 1; })",
               "'threadgroup float *' cannot become a pointer into the thread address space");
  expect_error(R"(
    void g(thread float& x) { x = 1; }
    kernel void f(device float* out) { g($out[0]); })",
               "'device float' cannot be passed as a reference into the thread address space");
  expect_error(R"(
    device float* g(threadgroup float* p) { return $p; }
    kernel void f(device float* out, threadgroup float* t) { out[0] = *g(t); })",
               "cannot initialize return object of type 'device float *' with an lvalue of type 'threadgroup float *'");
}

TEST(Errors, ConstantMemoryIsNotAssigned) {
  expect_error(R"(
    kernel void f(constant float* in) { in[0] $= 1; })",
               "cannot assign to memory that is constant or const");
  expect_error(R"(
    constant float table[2] = {1, 2};
    kernel void f(device float* out) { table[1] $= 2; })",
               "cannot assign to variable 'table' with const-qualified type 'constant float[2]'", 1);
  expect_error(R"(
    struct S { float a; };
    kernel void f(constant S& s) { s.a $= 3; })",
               "cannot assign to variable 's' with const-qualified type 'constant S &'", 1);
}

TEST(Errors, VariablesOutsideOfFunctionsAreConstant) {
  for (const char* variable : {"float $x = 1;", "threadgroup float $x[4];", "device float* $x;", "static int $x;",
                               "struct S { static int $x; };", "namespace n { float3 $x; }"})
    expect_error(std::string("\n") + variable + "\nkernel void f() {}", "'x' must be in the constant address space");
  EXPECT_EQ(functions_of(R"(
    constant float a = 1;
    constexpr constant float b[] = {1, 2};
    constexpr int c = 3;
    const int d = 4;
    static constexpr constant uint2 e(1, 2);
    constexpr sampler linear(filter::linear);
    kernel void f(device float* out) { out[0] = a + b[1] + c + d + e.x; })"),
            "f");
}

TEST(Errors, StaticVariablesDoNotChange) {
  expect_error(R"(
    kernel void f(device int* out) { static int $count = 0; out[0] = ++count; })",
               "Metal has no static variable that changes: 'count' must be const, or in threadgroup memory");
}

TEST(Errors, ThreadgroupMemoryIsInitializedByConstantsOnly) {
  expect_error(R"(
    kernel void f(device float* out) { threadgroup float $t[2] = {1, out[0]}; out[0] = t[0]; })",
               "'t' is in threadgroup memory: its initializer must be a constant");
}

TEST(Errors, ArraysHaveConstantSizes) {
  expect_error(R"(
    kernel void f(device float* out, constant int& n) { int m = n; float $a[m]; a[0] = 1; out[0] = a[0]; })",
               "the size of array 'a' depends on 'm', which is no constant");
  expect_error(R"(
    kernel void f(device float* out, constant int& n) { const int m = n + 1; float $a[m]; a[0] = 1; out[0] = a[0]; })",
               "the size of array 'a' depends on 'n', which is no constant");
  expect_error(R"(
    kernel void f(device float* out, constant int& n) { threadgroup float $a[n]; a[0] = 1; out[0] = a[0]; })",
               "the size of an array in threadgroup memory must be a constant");
}

TEST(Errors, CastsNameATypeAlsoInTemplates) {
  expect_error(R"(
    template <int N> float g(float x) { return $static_cast<N>(x); }
    kernel void f(device float* out) { out[0] = g<3>(out[1]); })",
               "static_cast needs a type, and a value that it is made of", 1);
}

TEST(Errors, WarningsAreSilentUnlessAskedForAndMayBeErrors) {
  const char* source = "\nkernel void f(device float* out) { int unused; out[0] = 1; }";
  EXPECT_TRUE(compile_source(source).diagnostics.empty());
  CompileOptions options = without_cache();
  options.all_warnings = true;
  CompileResult result = compile_source(source, options);
  ASSERT_EQ(result.diagnostics.size(), 1u) << format(result.diagnostics);
  EXPECT_TRUE(result.library);
  EXPECT_EQ(result.diagnostics[0].severity, Severity::warning);
  EXPECT_EQ(result.diagnostics[0].message, "unused variable 'unused'");
  options.warnings_as_errors = true;
  result = compile_source(source, options);
  EXPECT_EQ(errors_in(result.diagnostics), "unused variable 'unused'\n");
  EXPECT_FALSE(result.library);
  options.no_warnings = true;
  EXPECT_TRUE(compile_source(source, options).library);
}

TEST(Errors, InsideATemplateKernelNameTheUsersLine) {
  expect_error(R"(
    template <typename T> T twice(T x) { return x$.missing; }
    template <typename T> kernel void f(device T* out) { out[0] = twice(out[0]); }
    template [[host_name("f_float")]] kernel void f<float>(device float*);)",
               "member reference base type 'float' is not a structure or union", 2);
  expect_error(R"(
    float helper(float x);
    template <typename T> kernel void f(device T* out) { out[0] = $helper(1); }
    template [[host_name("f_float")]] kernel void f<float>(device float*);)",
               "'helper' is declared but has no definition");
}

TEST(Errors, InALibraryOfManyTemplateKernelsComeWithTheirCode) {
  std::string source = R"(
    float helper(float x);
    template <typename T> T twice(T x) { return x.missing; }
    template <typename T, int N> kernel void f(device T* out) { out[0] = twice(out[0]); }
    template <typename T, int N> kernel void g(device T* out) { out[0] = helper(1); }
    template <typename T, int N> kernel void h(device T* out) { out[0] = N; }
)";
  for (int i = 0; i < 100; ++i)
    for (const std::string name : {"f", "g", "h"}) {
      const std::string number = std::to_string(i);
      source += "template [[host_name(\"" + name + number + "\")]] kernel void " + name + "<float, " + number +
                ">(device float*);\n";
    }
  const auto library = library_of(source);
  ASSERT_TRUE(library);
  EXPECT_EQ(library->function_names().size(), 300u);
  const auto f = library->code("f42");
  ASSERT_FALSE(f);
  EXPECT_TRUE(f.error().starts_with(
      "program_source:3:50: error: member reference base type 'float' is not a structure or union\n"))
      << f.error();
  expect_metal_words(f.error());
  const auto g = library->code("g99");
  ASSERT_FALSE(g);
  EXPECT_TRUE(g.error().starts_with("program_source:5:74: error: 'helper' is declared but has no definition\n"))
      << g.error();
  code_of(*library, "h7");
}

TEST(Errors, StopAfterFiftyOfThem) {
  std::string source = "\n";
  for (int i = 0; i < 200; ++i) source += "unknown_type" + std::to_string(i) + " x" + std::to_string(i) + ";\n";
  EXPECT_LE(compile_source(source).diagnostics.size(), 51u);
}

TEST(Errors, OfThePreprocessorAreTheUsersOwnWords) {
  expect_error("\n#$error this needs Metal 4\n", "this needs Metal 4");
  expect_error("\n#$if 1\nkernel void f() {}\n", "unterminated conditional directive");
}

TEST(Errors, NameTheFileThatLineDirectivesName) {
  const CompileResult result = compile_source("\n#line 70 \"kernels/add.metal\"\nfoo x;\n");
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].file, "kernels/add.metal");
  EXPECT_EQ(result.diagnostics[0].line, 70u);
}

}  // namespace
}  // namespace metalloid
