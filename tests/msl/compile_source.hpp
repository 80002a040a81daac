// What the compiler's tests share: compile a piece of Metal, insist that it works or that it is wrong in one clear way.
//
// Sources start with a line end, so that the first line of a raw string is line 2; `using namespace metal` stands on
// line 1. Where an error is expected, a `$` in the source marks the place it must point at.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <metalloid/compiler.hpp>
#include <string>
#include <string_view>

namespace metalloid {

inline CompileOptions without_cache() {
  CompileOptions options;
  options.cache = false;
  return options;
}

inline CompileResult compile_source(std::string_view body, const CompileOptions& options = without_cache()) {
  return compile("using namespace metal;" + std::string(body), options);
}

// The library of a source that must compile without a word; null after a failed expectation.
inline std::shared_ptr<Library> library_of(std::string_view body, const CompileOptions& options = without_cache()) {
  const CompileResult result = compile_source(body, options);
  EXPECT_TRUE(result.library);
  EXPECT_TRUE(result.diagnostics.empty()) << format(result.diagnostics);
  return result.library;
}

// The code of one function, which the compiler has verified; empty after a failed expectation.
inline Code code_of(const Library& library, std::string_view name) {
  const auto code = library.code(name);
  EXPECT_TRUE(code) << name << ": " << code.error();
  if (!code) return {};
  EXPECT_EQ((*code)->entry, name);
  EXPECT_EQ(std::string((*code)->bitcode.begin(), (*code)->bitcode.begin() + 2), "BC");
  return **code;
}

// Whether the code refers to a symbol such as "metal.function_constant.0": bitcode keeps them as plain text.
inline bool mentions(const Code& code, std::string_view symbol) {
  return std::search(code.bitcode.begin(), code.bitcode.end(), symbol.begin(), symbol.end()) != code.bitcode.end();
}

// Compiles without a word, gives code for every function, and returns their names in order, separated by spaces.
inline std::string functions_of(std::string_view body, const CompileOptions& options = without_cache()) {
  const auto library = library_of(body, options);
  if (!library) return "";
  std::string names;
  for (const std::string_view name : library->function_names()) {
    code_of(*library, name);
    names += (names.empty() ? "" : " ") + std::string(name);
  }
  return names;
}

// The one function of a source, for looking at its reflection.
inline Function function_of(std::string_view body, const CompileOptions& options = without_cache()) {
  const auto library = library_of(body, options);
  if (!library) return {};
  EXPECT_EQ(library->functions().size(), 1u);
  code_of(*library, library->functions().front().name);
  return library->functions().front();
}

inline std::string errors_in(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics)
    if (diagnostic.severity == Severity::error) text += diagnostic.message + "\n";
  return text;
}

// Words that are the compiler's business and none of the user's.
inline void expect_metal_words(const std::string& said) {
  for (const char* word :
       {"__", "_Float16", "bf16", "opencl", "OpenCL", "sycl", "SYCL", "spirv", "address_space", "vec<", "metal_kernel",
        "annotat", "clang", "LLVM", "-isystem", "cc1", "asm label", "enable_if"})
    EXPECT_EQ(said.find(word), said.npos) << "says '" << word << "':\n" << said;
}

struct MarkedSource {
  explicit MarkedSource(std::string_view body) : text(body) {
    const size_t mark = text.find('$');
    if (mark == text.npos) return;
    text.erase(mark, 1);
    line = 1 + static_cast<uint32_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(mark), '\n'));
    column = static_cast<uint32_t>(mark - text.rfind('\n', mark == 0 ? 0 : mark - 1));
  }

  std::string text;
  uint32_t line = 0, column = 0;
};

// One error, at the mark, that says `message` (or a message of which that is a part), with the source line beside it,
// and at most `notes` notes; everything in Metal's words.
inline void expect_error(std::string_view marked, std::string_view message, size_t notes = 0,
                         const CompileOptions& options = without_cache()) {
  const MarkedSource source(marked);
  const CompileResult result = compile_source(source.text, options);
  EXPECT_EQ(result.library, nullptr) << "compiled, but should not: " << source.text;
  const std::string said = format(result.diagnostics);
  SCOPED_TRACE(said.empty() ? "nothing was said" : said);
  const auto count = [&](Severity severity) {
    return static_cast<size_t>(std::count_if(result.diagnostics.begin(), result.diagnostics.end(),
                                             [&](const Diagnostic& d) { return d.severity == severity; }));
  };
  ASSERT_EQ(count(Severity::error), 1u);
  EXPECT_EQ(count(Severity::warning), 0u);
  EXPECT_LE(count(Severity::note), notes);
  const Diagnostic& error = result.diagnostics.front();
  EXPECT_EQ(error.severity, Severity::error);
  EXPECT_NE(error.message.find(message), error.message.npos) << "should say: " << message;
  EXPECT_EQ(error.file, options.source_name);
  EXPECT_EQ(std::make_pair(error.line, error.column), std::make_pair(source.line, source.column));
  EXPECT_FALSE(error.source_line.empty());
  for (const Diagnostic& diagnostic : result.diagnostics) expect_metal_words(diagnostic.message);
}

}  // namespace metalloid
