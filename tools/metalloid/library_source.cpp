#include "library_source.hpp"

#include <fmt/format.h>

#include <metalloid/compiler.hpp>

#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

void LibrarySource::add_options(CLI::App& command) {
  command.add_option("FILE", file, "Metal source or a compiled library")->required();
  command.add_option("-D", macros, "NAME or NAME=VALUE: define a macro")->allow_extra_args(false);
  command.add_option("-I", include_directories, "Look for included files in this folder")->allow_extra_args(false);
  command.add_flag("--safe-math", safe_math, "No fast math");
}

std::shared_ptr<Library> LibrarySource::load() const {
  if (!file.ends_with(".metal")) return link_libraries(read_libraries(file));
  require_readable(file);
  CompileOptions options;
  for (const std::string& macro : macros) {
    const size_t equals = macro.find('=');
    options.macros.emplace_back(macro.substr(0, equals), equals == std::string::npos ? "1" : macro.substr(equals + 1));
  }
  for (const std::string& folder : include_directories) options.include_directories.emplace_back(folder);
  if (safe_math) {
    options.math_mode = MathMode::safe;
    options.precise_functions = true;
  }
  CompileResult result = compile_file(file, options);
  if (!result.library) throw Failure{exit_source_error, format(result.diagnostics), true};
  if (!result.diagnostics.empty()) fmt::print(stderr, "{}", format(result.diagnostics));
  return result.library;
}

std::vector<std::string> LibrarySource::kernels_with(const Library& library, std::string_view part) const {
  std::vector<std::string> kernels;
  for (const std::string_view name : library.function_names())
    if (name.find(part) != std::string_view::npos && library.find(name)->kind == FunctionKind::kernel)
      kernels.emplace_back(name);
  if (kernels.empty())
    throw Failure{exit_usage_error, fmt::format("{} has no kernel{}", file,
                                                part.empty() ? "" : fmt::format(" with \"{}\" in its name", part))};
  return kernels;
}

}  // namespace metalloid::tool
