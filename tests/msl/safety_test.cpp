// What hostile or careless source cannot do: leave the language, call what is not there, crash or stall the compiler.
#include <chrono>

#include "compile_source.hpp"

namespace metalloid {
namespace {

TEST(Safety, InlineAssemblyIsRejected) {
  expect_error("\nkernel void f() { $asm(\"nop\"); }", "inline assembly is not part of Metal");
  expect_error("\nkernel void f() { $__asm__ volatile(\"nop\" ::: \"memory\"); }",
               "inline assembly is not part of Metal");
  EXPECT_FALSE(compile_source("\nasm(\"nop\");\nkernel void f() {}").library);
}

// Inlined, there would be four to the power of thirty of the innermost.
TEST(Safety, FunctionsThatCallOthersFourTimesEachStayFunctions) {
  std::string source = "\nstatic uint f0(uint x) { return x * 3 + (x >> 5); }\n";
  for (int i = 1; i <= 30; ++i) {
    const std::string name = "f" + std::to_string(i - 1);
    source += "static uint f" + std::to_string(i) + "(uint x) { return " + name + "(x) ^ " + name + "(x + 1) ^ " +
              name + "(x + 2) ^ " + name + "(x + 3); }\n";
  }
  const auto start = std::chrono::steady_clock::now();
  const auto library = library_of(source + "kernel void f(device uint* x) { *x = f30(*x); }");
  ASSERT_TRUE(library);
  EXPECT_LT(code_of(*library, "f").bitcode.size(), 1'000'000u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Safety, FunctionsOfTheHostCannotBeCalled) {
  for (const char* declaration : {"extern \"C\" int $system(constant char*);",
                                  "int $puts(constant char*) __asm__(\"puts\");", "extern \"C\" void $abort();"}) {
    std::string source = declaration;
    const size_t mark = source.find('$');
    const std::string name = source.substr(mark + 1, source.find('(', mark) - mark - 1);
    source.erase(mark, 1);
    const bool has_argument = name != "abort";
    const CompileResult result = compile_source("\nconstant char text[] = \"ls\";\n" + source + "\nkernel void f() { " +
                                                name + (has_argument ? "(text)" : "()") + "; }");
    EXPECT_FALSE(result.library) << source;
    EXPECT_NE(errors_in(result.diagnostics).find("'" + name + "' is declared but has no definition"), std::string::npos)
        << format(result.diagnostics);
  }
  for (const char* call : {"__builtin_printf(\"x\")", "__builtin_malloc(8)", "__builtin_memcpy_chk(0, 0, 0, 0)"}) {
    const CompileResult result = compile_source("\nkernel void f() { " + std::string(call) + "; }");
    EXPECT_TRUE(!result.library || !result.library->code("f")) << call;
  }
}

TEST(Safety, WhatMetalDoesNotHaveIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"kernel void f() { $double x = 1; }", "'double' is not a Metal type: use float"},
      {"kernel void f() { $throw 1; }", "Metal has no exceptions"},
      {"struct S { $virtual void g() {} };", "Metal has no virtual functions"},
      {"kernel void f() { int* p = $new int; }", "Metal has no 'new': memory comes from buffers"},
      {"kernel void f(device int* p) { $delete p; }", "Metal has no 'delete': memory comes from buffers"},
      {"$thread_local int x;", "Metal has no 'thread_local'"},
      {"struct S { int x; }; kernel void f() { S s; auto& t = $typeid(s); }", "Metal has no run-time type information"},
  };
  for (const auto& [source, message] : cases) expect_error(std::string("\n") + source, message);
  EXPECT_EQ(
      functions_of("\nstruct S { int x; S() = default; void g() = delete; }; kernel void f(device S* s) { s->x = 1; }"),
      "f");
}

TEST(Safety, DeepNestingDoesNotOverflowTheStack) {
  const auto repeat = [](const std::string& text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  for (const std::string& source : {
           "int x = " + repeat("(", 5000) + "1" + repeat(")", 5000) + ";",
           "void f() { " + repeat("{", 5000) + repeat("}", 5000) + " }",
           "int x = " + repeat("-", 20000) + "1;",
           repeat("namespace a { ", 3000) + repeat("}", 3000),
           "int x = 1" + repeat(" + 1", 5000) + ";",
           repeat("(", 100000),
           repeat("[[", 20000),
           repeat("template <", 5000),
       })
    compile("kernel void k() {}\n" + source, without_cache());
}

TEST(Safety, HugeArraysAndShiftsAreNoCrash) {
  for (const char* body :
       {"int a[1ul << 40]; x[0] = a[1];", "threadgroup int a[1 << 30]; x[0] = a[1];", "x[0] = 1 << 40;",
        "x[0] = 1 / 0;", "int a[0]; x[0] = 1;", "int a[-1];", "x[0] = (&x[0])[1ul << 60];"}) {
    const CompileResult result = compile_source("\nkernel void f(device int* x) { " + std::string(body) + " }");
    if (result.library) (void)result.library->code("f");
  }
}

TEST(Safety, IncludingItselfOrAMacroBombEnds) {
  const auto start = std::chrono::steady_clock::now();
  compile_source("\n#include \"program_source\"\n");
  std::string bomb = "\n#define A0 1 + 1\n";
  for (int i = 1; i < 14; ++i) {
    const std::string before = "A" + std::to_string(i - 1);
    bomb += "#define A" + std::to_string(i) + " " + before + " + " + before + "\n";
  }
  compile_source(bomb + "kernel void f(device int* x) { x[0] = A13; }");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Safety, LoopsWithoutAnEndAreTheDevicesProblem) {
  EXPECT_EQ(functions_of("\nkernel void f(device int* x) { while (true) { x[0] += 1; } }"), "f");
  EXPECT_EQ(functions_of("\nkernel void f(device int* x) { for (;;) if (x[0]) break; }"), "f");
}

}  // namespace
}  // namespace metalloid
