// metalloid compile: Metal source in, library out.
#include <fmt/core.h>

#include <filesystem>
#include <metalloid/version.hpp>

#include "compiler_driver.hpp"
#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

int run_compile(const Arguments& arguments) {
  CompilerArguments parsed = parse_compiler_arguments(arguments);
  if (parsed.help) {
    fmt::print(
        "Compiles Metal source into one library.\n\n"
        "Usage: metalloid compile [options] FILE...\n\n"
        "A FILE is Metal source, - for source from standard input, or what was compiled before (.air,\n"
        ".metalar, .metallib). Without -o the library is named after the first one.\n\n"
        "Options:\n{}\n"
        "Examples:\n"
        "  metalloid compile softmax.metal -o softmax.metallib\n"
        "  metalloid compile -std=metal3.1 -fno-fast-math -I include a.metal b.metal -o both.metallib\n"
        "  metalloid compile -E -D TILE=16 matmul.metal\n"
        "  metalloid compile --device sm_90 softmax.metal -o softmax.metallib\n"
        "  cat saxpy.metal | metalloid compile - -o - | metalloid inspect -\n\n{}\n",
        compiler_options_help(), exit_code_help);
    return exit_success;
  }
  if (parsed.version) {
    fmt::print("metalloid {}\n", version);
    return exit_success;
  }
  std::string name = "default";
  if (!parsed.inputs.empty() && parsed.inputs[0].path != standard_stream)
    name = std::filesystem::path(parsed.inputs[0].path).stem().string();
  return run_compiler(parsed, name + ".metallib");
}

}  // namespace metalloid::tool
