// Compiles the Metal kernels of a folder into one library, for the build: embed_kernels OUTPUT DEPFILE SOURCE...
// The assembler takes the output in as it is.
#include <cstdio>
#include <fstream>
#include <metalloid/compiler.hpp>
#include <metalloid/library.hpp>

using namespace metalloid;

static int give_up(const std::string& reason) {
  std::fprintf(stderr, "embed_kernels: %s\n", reason.c_str());
  return 1;
}

int main(int count, char** arguments) {
  if (count < 4) return give_up("usage: embed_kernels OUTPUT DEPFILE SOURCE...");
  CompileOptions options;
  options.math_mode = MathMode::relaxed;  // infinities and NaNs keep their meaning
  options.precise_functions = true;
  options.warnings_as_errors = true;
  std::vector<std::shared_ptr<Library>> libraries;
  std::ofstream dependencies(arguments[2]);
  dependencies << arguments[1] << ":";
  for (int i = 3; i < count; ++i) {
    options.source_name = arguments[i];
    const CompileResult compiled = compile_file(arguments[i], options);
    std::fputs(format(compiled.diagnostics).c_str(), stderr);
    if (!compiled.library) return 1;
    libraries.push_back(compiled.library);
    for (const std::filesystem::path& file : compiled.included_files) dependencies << " \\\n  " << file.string();
  }
  dependencies << "\n";
  const auto merged = merge(libraries);
  if (!merged) return give_up(merged.error());
  if (const Status written = (*merged)->write(arguments[1]); !written) return give_up(written.error());
  return 0;
}
