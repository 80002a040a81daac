#include "msl/invocation.hpp"

#include <fmt/format.h>

#include "msl/file_system.hpp"

namespace metalloid::msl {

namespace {

// The arguments of clang -cc1 that do not depend on the options. SYCL-device mode is the C++ dialect with Metal's
// address spaces: the default one is a superset of the others, and functions are convergent. spirv64 keeps device and
// constant memory apart; the auxiliary triple gives __bf16 a mangling. The limits bound what a hostile source costs.
constexpr const char* fixed_arguments[] = {
    "-triple",
    "spirv64",
    "-aux-triple",
    "x86_64-pc-linux-gnu",
    "-fsycl-is-device",
    "-std=c++17",
    "-fdeclspec",
    "-x",
    "c++",
    "-disable-llvm-passes",
    "-nostdsysteminc",
    "-nobuiltininc",
    "-fno-rtti",
    "-relaxed-aliasing",
    "-fno-sized-deallocation",
    "-ftemplate-depth=400",
    "-fconstexpr-depth=256",
    "-fconstexpr-steps=1000000",
    "-ferror-limit",
    "50",
    "-fmacro-backtrace-limit=4",
    "-ftemplate-backtrace-limit=4",
    "-fshow-overloads=best",
    "-fno-elide-type",
    // What Metal's own C++ allows silently, or what our rewriting causes.
    "-Wno-unknown-pragmas",
    "-Wno-c++20-extensions",
    "-Wno-c++23-extensions",
    "-Wno-vla-extension",
    "-Wno-vla-cxx-extension",
    "-Wno-static-float-init",
    "-Wno-undefined-inline",
    "-Wno-undefined-internal",
    "-Wno-missing-declarations",
    "-Wno-ignored-attributes",
    "-Wno-pass-failed",
    "-Wno-invalid-constexpr",
    "-Wno-gnu-anonymous-struct",
    "-Wno-nested-anon-types",
    "-Wno-sign-compare",
    "-Wno-unused-function",
    "-Wno-duplicate-decl-specifier",
    "-Wno-literal-range",
    "-Wno-c99-designator",
    "-Wno-reorder-init-list",
};

std::string version_number(LanguageVersion version) {
  return fmt::format("{}{}0", version.major, version.minor);
}

// The macros by which headers and shaders ask for a feature, and the version of the language that brought it. Ray
// tracing and tensors are not here: a source that asks is told no.
const std::pair<LanguageVersion, const char*> features[] = {
    {{1, 2}, "__HAVE_FUNCTION_CONSTANTS__"},
    {{2, 1}, "__HAVE_TEXTURE_BUFFER__"},
    {{2, 1}, "__HAVE_SIMDGROUP_REDUCTION__"},
    {{2, 3}, "__HAVE_SIMDGROUP_MATRIX__"},
    {{2, 3}, "__HAVE_VISIBLE_FUNCTION_TABLE__"},
    {{3, 0}, "__HAVE_ATOMIC_FLOAT__"},
    {{3, 1}, "__HAVE_BFLOAT__"},
    {{3, 2}, "__HAVE_COHERENT__"},
};

std::vector<std::string> predefined_macros(const CompileOptions& options) {
  const bool fast = options.math_mode == MathMode::fast;
  std::vector<std::string> macros = {
      fmt::format("__METAL_VERSION__={}", version_number(options.language)),
      "__METAL__=1",
      "__METAL_MACOS__=1",
      "__METALLOID__=1",
      "TARGET_OS_OSX=1",
      "TARGET_OS_IPHONE=0",
      fmt::format("__METAL_FAST_MATH_FUNCTIONS__={:d}", fast && !options.precise_functions),
  };
  if (fast) macros.push_back("__FAST_MATH__=1");
  for (const auto& [since, macro] : features)
    if (options.language >= since) macros.push_back(macro);
  return macros;
}

std::vector<std::string> option_arguments(const CompileOptions& options) {
  std::vector<std::string> arguments;
  for (const std::string& macro : predefined_macros(options)) arguments.push_back("-D" + macro);
  switch (options.math_mode) {
    case MathMode::safe:
      arguments.push_back("-ffp-contract=on");
      break;
    // Neither mode may assume away NaN and infinity: softmax masks with -INFINITY and tests with isnan rely on them.
    case MathMode::relaxed:
    case MathMode::fast:
      arguments.insert(arguments.end(), {"-ffp-contract=fast", "-mreassociate", "-fno-signed-zeros",
                                         "-freciprocal-math", "-fapprox-func"});
      break;
  }
  switch (options.optimization) {
    case Optimization::none:
      arguments.push_back("-O0");
      break;
    case Optimization::size:
      arguments.push_back("-Os");
      break;
    case Optimization::performance:
      arguments.push_back("-O2");
      break;
  }
  arguments.push_back(options.debug_info ? "-debug-info-kind=constructor" : "-debug-info-kind=line-tables-only");
  arguments.push_back("-dwarf-version=5");
  if (options.all_warnings) arguments.insert(arguments.end(), {"-Wall", "-Wno-unknown-pragmas", "-Wno-sign-compare"});
  arguments.insert(arguments.end(), options.warning_options.begin(), options.warning_options.end());
  if (options.no_warnings) arguments.push_back("-w");
  if (options.warnings_as_errors) arguments.push_back("-Werror");
  for (const auto& folder : options.include_directories) arguments.insert(arguments.end(), {"-I", folder.string()});
  arguments.insert(arguments.end(), {"-isystem", stdlib_folder.str()});
  return arguments;
}

}  // namespace

std::shared_ptr<clang::CompilerInvocation> make_invocation(const CompileOptions& options) {
  const std::vector<std::string> variable = option_arguments(options);
  std::vector<const char*> arguments(std::begin(fixed_arguments), std::end(fixed_arguments));
  for (const std::string& argument : variable) arguments.push_back(argument.c_str());

  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::DiagnosticOptions diagnostic_options;
  auto silent = clang::CompilerInstance::createDiagnostics(*llvm::vfs::getRealFileSystem(), diagnostic_options,
                                                           new clang::IgnoringDiagConsumer);
  [[maybe_unused]] const bool understood =
      clang::CompilerInvocation::CreateFromArgs(*invocation, arguments, *silent, "metalloid");
  assert(understood && "our own arguments are always valid");
  return invocation;
}

std::string stdlib_key(const CompileOptions& options) {
  return fmt::format("metal{}.{} math{} precise{} opt{} g{}", options.language.major, options.language.minor,
                     static_cast<int>(options.math_mode), options.precise_functions,
                     static_cast<int>(options.optimization), options.debug_info);
}

std::string user_macros(const CompileOptions& options) {
  std::string text;
  for (const auto& [name, value] : options.macros) text += fmt::format("#define {} {}\n", name, value);
  for (const auto& name : options.undefined_macros) text += fmt::format("#undef {}\n", name);
  return text;
}

}  // namespace metalloid::msl
