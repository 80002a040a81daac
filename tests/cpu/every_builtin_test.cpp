// Every builtin that the standard headers declare has a body: in the bitcode that all devices share, among the native
// functions of the CPU, or in the code that replaces its calls. (That the headers and docs/builtins.md name the same
// builtins is a test of the compiler's.)
#include <gtest/gtest.h>

#include <algorithm>
#include <metalloid/compiler.hpp>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "../builtins/invoke.hpp"
#include "cpu/runtime_symbols.hpp"

namespace metalloid::cpu {
namespace {

// The labels of the headers' declarations: __asm__("metal." "simd" "_" "sum" "." "f32").
std::set<std::string> declared_builtins() {
  CompileOptions options;
  options.cache = false;
  const PreprocessResult headers = preprocess("#include <metal_stdlib>\n", options);
  std::set<std::string> symbols;
  const std::regex label(R"(__asm__\(((?:\s*"[^"]*")+)\s*\))"), piece("\"([^\"]*)\"");
  for (std::sregex_iterator at(headers.text.begin(), headers.text.end(), label), end; at != end; ++at) {
    const std::string pieces = (*at)[1];
    std::string symbol;
    for (std::sregex_iterator word(pieces.begin(), pieces.end(), piece); word != end; ++word) symbol += (*word)[1];
    symbols.insert(symbol);
  }
  return symbols;
}

bool is_for_kernels(const std::string& symbol) {
  for (const char* other : {"metal.graphics.", "metal.raytracing", "metal.indirect."})
    if (symbol.starts_with(other)) return false;
  return true;
}

// Calls of these become something else when a pipeline is made.
const std::set<std::string> replaced = {"metal.thread_index_in_simdgroup", "metal.threads_per_simdgroup",
                                        "metal.threadgroup_barrier", "metal.is_function_constant_defined",
                                        "metal.threadgroup_alloc"};

TEST(EveryBuiltin, HasABody) {
  const auto in_bitcode = builtins::defined_functions();
  const std::set<std::string> shared(in_bitcode.begin(), in_bitcode.end());
  const std::set<std::string> declared = declared_builtins();
  ASSERT_GT(declared.size(), 900u);
  for (const std::string& symbol : declared) {
    if (!is_for_kernels(symbol) || replaced.contains(symbol)) continue;
    const bool native = RuntimeSymbols::all().find(symbol) != nullptr;
    EXPECT_TRUE(native || shared.contains(symbol)) << symbol;
    EXPECT_FALSE(native && shared.contains(symbol)) << symbol << " has two";
  }
}

TEST(EveryBuiltin, IsDeclaredByTheHeaders) {
  const std::set<std::string> declared = declared_builtins();
  std::vector<std::string> defined = builtins::defined_functions();
  for (const auto& [symbol, address] : RuntimeSymbols::all().addresses()) defined.push_back(symbol);
  std::erase_if(defined, [](const std::string& symbol) { return !symbol.starts_with("metal."); });
  ASSERT_GT(defined.size(), 900u);
  for (const std::string& symbol : defined) EXPECT_TRUE(declared.contains(symbol)) << symbol;
}

}  // namespace
}  // namespace metalloid::cpu
