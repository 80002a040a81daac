// Functions that one file calls and another defines.
#include "compile_source.hpp"

namespace metalloid {
namespace {

std::shared_ptr<Library> file(const std::string& name, std::string_view body) {
  CompileOptions options = without_cache();
  options.for_linking = true;
  options.source_name = name;
  return library_of(body, options);
}

// The code of kernel `k` when these files are linked, or what is wrong with it.
std::string code_or_error(const std::vector<std::shared_ptr<Library>>& files) {
  const auto linked = link(files);
  if (!linked) return linked.error();
  const auto code = (*linked)->code("k");
  if (!code) return code.error();
  EXPECT_TRUE((*code)->undefined.empty());
  return std::string((*code)->bitcode.begin(), (*code)->bitcode.end());
}

constexpr std::string_view caller = "float f(float x); kernel void k(device float* x) { *x = f(*x); }";

TEST(Link, AFunctionOfAnotherFileIsFoundAndInlined) {
  const auto a = file("a.metal", caller), b = file("b.metal", "float f(float x) { return x + 1; }");
  EXPECT_EQ((*a->code("k"))->undefined, std::vector<std::string>{"_Z1ff"});
  const std::string code = code_or_error({a, b});
  EXPECT_TRUE(code.starts_with("BC")) << code;
  EXPECT_EQ(code.find("_Z1ff"), code.npos);
  EXPECT_EQ((*link({a, b}))->function_names(), std::vector<std::string_view>{"k"});
}

TEST(Link, SoIsWhatThatOneCalls) {
  EXPECT_TRUE(
      code_or_error({file("a.metal", caller), file("b.metal", "float g(float); float f(float x) { return g(x); }"),
                     file("c.metal", "namespace { float h(float x) { return x; } } float g(float x) { return h(x); }")})
          .starts_with("BC"));
}

TEST(Link, ReferencesAndMembersOfClassesGoWithTheirAddressSpaces) {
  constexpr std::string_view header =
      "struct S { float x; float get() const; }; void set(device S& s, thread float& x);";
  EXPECT_TRUE(code_or_error(
                  {file("a.metal", std::string(header) +
                                       "kernel void k(device S* s) { float x = s->get(); set(*s, x); s->x += x; }"),
                   file("b.metal", std::string(header) + "float S::get() const { return x; }"
                                                         "void set(device S& s, thread float& x) { s.x = x; x = 2; }")})
                  .starts_with("BC"));
}

TEST(Link, ItsFunctionConstantsAreTheCallersToo) {
  const auto linked = link({file("a.metal", caller), file("b.metal",
                                                          "constant float bend [[function_constant(3)]];"
                                                          "float f(float x) { return x * bend; }")});
  const auto code = (*linked)->code("k");
  ASSERT_TRUE(code) << code.error();
  ASSERT_EQ((*code)->function_constants.size(), 1u);
  EXPECT_EQ((*code)->function_constants[0].name, "bend");
}

TEST(Link, DifferentConstantsOfOneIndexAreAnError) {
  EXPECT_EQ(
      code_or_error(
          {file("a.metal",
                "constant int wide [[function_constant(3)]]; float f(float);"
                "kernel void k(device float* x) { *x = f(wide); }"),
           file("b.metal", "constant float bend [[function_constant(3)]]; float f(float x) { return x * bend; }")}),
      "'k' and what it calls use function constants 'wide' and 'bend', which both have index 3");
}

TEST(Link, OneThatNoFileDefinesIsAnError) {
  EXPECT_EQ(code_or_error({file("a.metal", caller), file("b.metal",
                                                         "static float f(float x) { return x; }"
                                                         "inline float f(int x) { return f(float(x)); }")}),
            "'k' calls 'f(float)', which no file defines; link the one that does");
}

TEST(Link, DifferentDefinitionsAreAnErrorAndAHeadersAreNot) {
  const auto a = file("a.metal", caller);
  EXPECT_EQ(code_or_error({a, file("b.metal", "float f(float x) { return x; }"),
                           file("c.metal", "\nfloat f(float x) { return 2 * x; }")}),
            "'k' calls 'f(float)', which is defined at b.metal:1 and at c.metal:2; rename one, or make it static");
  EXPECT_TRUE(
      code_or_error({a, file("f.h", "float f(float x) { return x; }"), file("f.h", "float f(float x) { return x; }")})
          .starts_with("BC"));
}

TEST(Link, AFilesOwnFunctionComesFirst) {
  EXPECT_TRUE(
      code_or_error({file("a.metal", "float f(float x) { return x; } kernel void k(device float* x) { *x = f(*x); }"),
                     file("b.metal", "float f(float x) { return 2 * x; }")})
          .starts_with("BC"));
}

TEST(Link, WhatOnlyFragmentsMayCallIsLeftOut) {
  const auto a = file("a.metal", "float slope(float x) { return dfdx(x); } kernel void k(device float* x) { *x = 1; }");
  const auto bytes = a->serialise();
  ASSERT_TRUE(bytes) << bytes.error();
  EXPECT_EQ((*Library::from_bytes(*bytes))->function_names(), std::vector<std::string_view>{"k"});
}

TEST(Link, WithoutLinkingItIsAnErrorAtTheCall) {
  const CompileResult result = compile_source(caller);
  ASSERT_FALSE(result.library);
  EXPECT_EQ(result.diagnostics.front().message, "'f' is declared but has no definition");
}

}  // namespace
}  // namespace metalloid
