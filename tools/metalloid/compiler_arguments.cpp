#include "compiler_arguments.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <string_view>

#include "files.hpp"
#include "language.hpp"

namespace metalloid::tool {

namespace {

using Value = std::string_view;

enum class Form { flag, joined, separate, joined_or_separate };
using enum Form;

struct Option {
  std::string_view name;
  Form form;
  void (*apply)(CompilerArguments&, Value);
  std::string_view value_name = {};
  std::string_view help = {};  // none: a spelling or a detail that the help leaves out
};

void ignore(CompilerArguments&, Value) {}

template <Stage stage>
void set_stage(CompilerArguments& arguments, Value) {
  arguments.stage = std::min(arguments.stage, stage);
}

void define(CompilerArguments& arguments, Value value) {
  size_t equals = value.find('=');
  std::string text = equals == value.npos ? "1" : std::string(value.substr(equals + 1));
  arguments.options.macros.emplace_back(value.substr(0, equals), text);
}

void undefine(CompilerArguments& arguments, Value name) {
  std::erase_if(arguments.options.macros, [&](const auto& macro) { return macro.first == name; });
  arguments.options.undefined_macros.emplace_back(name);
}

void include_directory(CompilerArguments& arguments, Value path) {
  arguments.options.include_directories.emplace_back(path);
}

void set_math(CompilerArguments& arguments, MathMode mode, bool precise) {
  arguments.options.math_mode = mode;
  arguments.options.precise_functions = precise;
}

void set_math_mode(CompilerArguments& arguments, Value mode) {
  if (mode == "fast")
    arguments.options.math_mode = MathMode::fast;
  else if (mode == "relaxed")
    arguments.options.math_mode = MathMode::relaxed;
  else if (mode == "safe")
    arguments.options.math_mode = MathMode::safe;
  else
    throw Failure{exit_usage_error, fmt::format("unknown math mode '{}'; known are fast relaxed safe", mode)};
}

void set_math_functions(CompilerArguments& arguments, Value kind) {
  if (kind != "fast" && kind != "precise")
    throw Failure{exit_usage_error, fmt::format("unknown kind of math functions '{}'; known are fast precise", kind)};
  arguments.options.precise_functions = kind == "precise";
}

void set_optimization(CompilerArguments& arguments, Value level) {
  if (level == "0")
    arguments.options.optimization = Optimization::none;
  else if (level == "s" || level == "z")
    arguments.options.optimization = Optimization::size;
  else if (level.empty() || level == "1" || level == "2" || level == "3" || level == "fast")
    arguments.options.optimization = Optimization::performance;
  else
    throw Failure{exit_usage_error, fmt::format("unknown optimization level '-O{}'; known are 0 1 2 3 s", level)};
}

void set_warning(CompilerArguments& arguments, Value name) {
  CompileOptions& options = arguments.options;
  if (name == "all" || name == "extra" || name == "everything")
    options.all_warnings = true;
  else if (name == "error" || name == "no-error")
    options.warnings_as_errors = name == "error";
  else if (!name.starts_with("metal-") && !name.starts_with("no-metal-"))  // Apple's own
    options.warning_options.push_back(fmt::format("-W{}", name));
}

void set_input_language(CompilerArguments& arguments, Value language) {
  if (language != "metal" && language != "none")
    throw Failure{exit_usage_error, fmt::format("unknown language '-x {}'; known are metal none", language)};
  arguments.language_of_inputs = language == "none" ? "" : language;
}

template <const char* system>
void set_system_version(CompilerArguments& arguments, Value version) {
  arguments.target = language_of_system(system, version);
}
constexpr char macos[] = "macos", ios[] = "ios", visionos[] = "visionos";

void warn_unknown(CompilerArguments& arguments, Value name) {
  arguments.warnings.push_back(fmt::format("unknown option '-f{}' has no effect", name));
}

const Option options[] = {
    {"-o", joined_or_separate, [](auto& a, Value v) { a.output = v; }, "FILE", "where to write; - is standard output"},
    {"-I", joined_or_separate, include_directory, "DIR", "look for included files in DIR"},
    {"-D", joined_or_separate, define, "NAME[=VALUE]", "define a macro"},
    {"-U", joined_or_separate, undefine, "NAME", "undefine a macro"},
    {"-std=", joined, [](auto& a, Value v) { a.standard = language_of_standard(v); }, "VERSION",
     "language version: metal3.2 (default), metal3.0, macos-metal2.4, ios-metal2.4, ..."},
    {"-x", joined_or_separate, set_input_language, "metal", "the inputs that follow are Metal source"},
    {"-c", flag, set_stage<Stage::compile>, "", "one .air file for each source, not a library of all"},
    {"-E", flag, set_stage<Stage::preprocess>, "", "preprocess only, to standard output or -o"},
    {"-P", flag, [](auto& a, Value) { a.line_markers = false; }, "", "with -E: no line markers"},
    {"-H", flag, [](auto& a, Value) { a.list_headers = true; }, "", "list the included files on standard error"},
    {"-fsyntax-only", flag, set_stage<Stage::check>, "", "look for errors, write nothing"},
    {"-O", joined, set_optimization, "LEVEL", "optimize: 0 not at all, s for size, 1 2 3 for speed (default)"},
    {"-g", joined, [](auto& a, Value v) { a.options.debug_info = v != "0"; }, "", "keep debugging information"},
    {"-ffast-math", flag, [](auto& a, Value) { set_math(a, MathMode::fast, false); }, "",
     "fast math mode and fast functions (default)"},
    {"-fno-fast-math", flag, [](auto& a, Value) { set_math(a, MathMode::safe, true); }, "",
     "safe math mode and precise functions"},
    {"-fmetal-math-mode=", joined, set_math_mode, "MODE", "fast, relaxed or safe"},
    {"-fmetal-math-fp32-functions=", joined, set_math_functions, "KIND", "fast or precise"},
    {"-Wall", flag, [](auto& a, Value) { set_warning(a, "all"); }, "", "more warnings; so does -Wextra"},
    {"-Werror", flag, [](auto& a, Value) { set_warning(a, "error"); }, "", "warnings are errors"},
    {"-w", flag, [](auto& a, Value) { a.options.no_warnings = true; }, "", "no warnings"},
    {"-M", flag, set_stage<Stage::list_dependencies>, "", "only print the files a source depends on, as a make rule"},
    {"-MD", flag, [](auto& a, Value) { a.dependency_rule.wanted = true; }, "", "write that rule beside the output"},
    {"-MF", joined_or_separate, [](auto& a, Value v) { a.dependency_rule.file = v; }, "FILE", "the rule's file"},
    {"-MT", joined_or_separate, [](auto& a, Value v) { a.dependency_rule.targets.emplace_back(v); }, "TARGET",
     "the rule's target"},
    {"-MP", flag, [](auto& a, Value) { a.dependency_rule.phony_targets = true; }, "", "an empty rule per header"},
    {"-target", separate, [](auto& a, Value v) { a.target = language_of_target(v); }, "TRIPLE",
     "air64-apple-macos14.0 and such: the language version of that system"},
    {"-mmacosx-version-min=", joined, set_system_version<macos>, "VERSION", "the same for a version of macOS"},
    {"--device", separate, [](auto& a, Value v) { a.devices.emplace_back(v); }, "sm_90",
     "add code for such NVIDIA GPUs, so that nothing is compiled where the library is used"},
    {"--cubin", flag, [](auto& a, Value) { a.cubin = true; }, "", "with --device: machine code too, made by ptxas"},
    {"--help", flag, [](auto& a, Value) { a.help = true; }, "", "print this help"},
    {"--version", flag, [](auto& a, Value) { a.version = true; }, "", "print the version"},

    {"-h", flag, [](auto& a, Value) { a.help = true; }},
    {"-help", flag, [](auto& a, Value) { a.help = true; }},
    {"--device=", joined, [](auto& a, Value v) { a.devices.emplace_back(v); }},
    {"-MM", flag, set_stage<Stage::list_dependencies>},
    {"-MMD", flag, [](auto& a, Value) { a.dependency_rule.wanted = true; }},
    {"-MQ", joined_or_separate, [](auto& a, Value v) { a.dependency_rule.targets.emplace_back(v); }},
    {"--target=", joined, [](auto& a, Value v) { a.target = language_of_target(v); }},
    {"-mmacos-version-min=", joined, set_system_version<macos>},
    {"-mios-version-min=", joined, set_system_version<ios>},
    {"-miphoneos-version-min=", joined, set_system_version<ios>},
    {"-mios-simulator-version-min=", joined, set_system_version<ios>},
    {"-mtvos-version-min=", joined, set_system_version<ios>},
    {"-mtargetos=", joined, [](auto& a, Value v) { a.target = language_of_target(v); }},
    {"-mxros-version-min=", joined, set_system_version<visionos>},
    {"-isystem", joined_or_separate, include_directory},
    {"-iquote", joined_or_separate, include_directory},
    {"-W", joined, set_warning},
    {"-f", joined, warn_unknown},
    {"-fcolor-diagnostics", flag, [](auto& a, Value) { a.colour = true; }},
    {"-fno-color-diagnostics", flag, [](auto& a, Value) { a.colour = false; }},
    {"-fdiagnostics-color=", joined,
     [](auto& a, Value v) {
       if (v != "auto") a.colour = v == "always";
     }},

    // Nothing here depends on these: other systems' paths, how Apple's compiler stores its by-products, vertex shaders.
    {"-isysroot", joined_or_separate, ignore},
    {"-arch", separate, ignore},
    {"-serialize-diagnostics", separate, ignore},
    {"--serialize-diagnostics", separate, ignore},
    {"-index-store-path", separate, ignore},
    {"-pipe", flag, ignore},
    {"-Qunused-arguments", flag, ignore},
    {"-C", flag, ignore},
    {"-CC", flag, ignore},
    {"-v", flag, ignore},
    {"-frecord-sources", joined, ignore},
    {"-fpreserve-invariance", flag, ignore},
    {"-fmetal-enable-logging", flag, ignore},
    {"-finline", joined, ignore},
    {"-fno-inline", joined, ignore},
    {"-fmodules", joined, ignore},
    {"-fno-modules", flag, ignore},
    {"-fdiagnostics-", joined, ignore},
    {"-fno-diagnostics-", joined, ignore},
    {"-fmessage-length=", joined, ignore},
    {"-ffile-prefix-map=", joined, ignore},
    {"-fdebug-prefix-map=", joined, ignore},
    {"-fdebug-compilation-dir", joined, ignore},
};

bool matches(const Option& option, std::string_view argument) {
  bool may_have_more = option.form == joined || option.form == joined_or_separate;
  return may_have_more ? argument.starts_with(option.name) : argument == option.name;
}

// The option with the longest name that fits, so that -fno-fast-math is not -f.
const Option& find_option(std::string_view argument) {
  const Option* best = nullptr;
  for (const Option& option : options)
    if (matches(option, argument) && (!best || option.name.size() > best->name.size())) best = &option;
  if (!best) throw Failure{exit_usage_error, fmt::format("unknown option '{}'; --help lists the known ones", argument)};
  return *best;
}

Input make_input(const std::string& path, const CompilerArguments& arguments) {
  std::string extension = std::filesystem::path(path).extension().string();
  bool is_library = extension == ".air" || extension == ".metallib" || extension == ".metalar" || extension == ".a";
  return {path, !arguments.language_of_inputs.empty() || !is_library};
}

}  // namespace

CompilerArguments parse_compiler_arguments(const Arguments& arguments) {
  CompilerArguments result;
  bool only_inputs = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_inputs || !argument.starts_with('-') || argument == standard_stream) {
      result.inputs.push_back(make_input(argument, result));
      continue;
    }
    if (argument == "--") {
      only_inputs = true;
      continue;
    }
    const Option& option = find_option(argument);
    std::string_view value = std::string_view(argument).substr(option.name.size());
    if (option.form == separate || (option.form == joined_or_separate && value.empty())) {
      if (++i == arguments.size())
        throw Failure{exit_usage_error, fmt::format("option '{}' needs a value after it", argument)};
      value = arguments[i];
    }
    option.apply(result, value);
  }
  result.options.language = result.standard.value_or(result.target.value_or(LanguageVersion()));
  return result;
}

std::string compiler_options_help() {
  std::string text;
  for (const Option& option : options) {
    if (option.help.empty()) continue;
    std::string_view space = !option.value_name.empty() && option.form != joined ? " " : "";
    text += fmt::format("  {:<36} {}\n", fmt::format("{}{}{}", option.name, space, option.value_name), option.help);
  }
  return text;
}

}  // namespace metalloid::tool
