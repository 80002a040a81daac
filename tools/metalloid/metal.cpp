// metal: Apple's compiler driver. Differs from `metalloid compile` in the name of the library it makes when none is
// given.
#include <fmt/core.h>

#include <metalloid/version.hpp>

#include "compiler_driver.hpp"
#include "program.hpp"

namespace metalloid::tool {

int run_metal(const Arguments& arguments) {
  CompilerArguments parsed = parse_compiler_arguments(arguments);
  if (parsed.help) {
    fmt::print(
        "Compiles Metal source, with the command line of Apple's compiler.\n\n"
        "Usage: metal [options] FILE...\n\n"
        "Options:\n{}\n"
        "Examples:\n"
        "  metal -c softmax.metal -o softmax.air\n"
        "  metal softmax.air matmul.air -o default.metallib\n"
        "  metal softmax.metal -o softmax.metallib\n\n{}\n",
        compiler_options_help(), exit_code_help);
    return exit_success;
  }
  if (parsed.version) {
    fmt::print("metal (Metalloid {})\n", version);
    return exit_success;
  }
  return run_compiler(parsed, "default.metallib");
}

}  // namespace metalloid::tool
