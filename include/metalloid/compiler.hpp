// Metal source in, library out.
#pragma once

#include <filesystem>
#include <memory>
#include <metalloid/diagnostic.hpp>
#include <metalloid/library.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace metalloid {

struct LanguageVersion {
  unsigned major = 3, minor = 2;
  auto operator<=>(const LanguageVersion&) const = default;
};

enum class MathMode { safe, relaxed, fast };
enum class Optimization { none, size, performance };

struct CompileOptions {
  std::string source_name = "program_source";  // what diagnostics call the source
  LanguageVersion language;
  MathMode math_mode = MathMode::fast;
  bool precise_functions = false;  // single-precision math functions: precise:: instead of fast::
  Optimization optimization = Optimization::performance;
  bool debug_info = false;
  bool all_warnings = false;
  bool no_warnings = false;
  bool warnings_as_errors = false;
  std::vector<std::string> warning_options;  // by Clang's names: "-Wno-unused-variable"
  std::vector<std::pair<std::string, std::string>> macros;
  std::vector<std::string> undefined_macros;
  std::vector<std::filesystem::path> include_directories;  // none: nothing from the file system can be included
  bool for_linking = false;  // other files may define what is called, and call what is here
  bool cache = true;         // look up and keep results in the on-disk cache
};

struct CompileResult {
  std::shared_ptr<Library> library;  // null if there are errors
  std::vector<Diagnostic> diagnostics;
  std::vector<std::filesystem::path> included_files;  // of the file system: what a build depends on
};

CompileResult compile(std::string_view source, const CompileOptions& options = {});

// The file's own folder is searched for its quoted includes, as compilers do.
CompileResult compile_file(const std::filesystem::path& path, const CompileOptions& options = {});

// One library of several that were compiled for linking: functions of one file that another calls are found. That none
// defines one, or several do so differently, is an error when the code of who calls it is asked for.
Result<std::shared_ptr<Library>> link(const std::vector<std::shared_ptr<Library>>& libraries);

struct PreprocessResult {
  std::string text;
  std::vector<Diagnostic> diagnostics;
};
PreprocessResult preprocess(std::string_view source, const CompileOptions& options = {});
PreprocessResult preprocess_file(const std::filesystem::path& path, const CompileOptions& options = {});

}  // namespace metalloid
