// Chooses the program by the name it was called with, then the subcommand, and turns failures into exit codes.
#include <fmt/core.h>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <metalloid/version.hpp>
#include <new>
#include <utility>

#include "program.hpp"

namespace metalloid::tool {

namespace {

int run_metalloid(const Arguments& arguments) {
  // The options of a compiler (-std=, -O3, -Wall) are not ones that CLI11 can spell.
  if (!arguments.empty() && arguments[0] == "compile") return run_compile({arguments.begin() + 1, arguments.end()});

  CLI::App app("Compiles Metal source, runs and checks kernels, looks into compiled libraries.", "metalloid");
  app.set_version_flag("--version", fmt::format("metalloid {}", version), "Print the version");
  app.require_subcommand(1);
  app.add_subcommand("compile", "Compile Metal source into a library");
  add_inspect(app);
  add_run(app);
  add_check(app);
  add_devices(app);
  add_bench(app);
  add_fuzz(app);
  add_train(app);
  app.footer(
      fmt::format("Examples:\n"
                  "  metalloid compile softmax.metal -o softmax.metallib\n"
                  "  metalloid inspect softmax.metallib\n"
                  "  metalloid compile --help\n\n{}\n",
                  exit_code_help));
  try {
    app.parse(Arguments(arguments.rbegin(), arguments.rend()));  // CLI11 takes them last first
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? exit_success : exit_usage_error;
  }
  return exit_success;
}

int run(const std::string& name, const Arguments& arguments) {
  if (Program driver = find_driver(name)) return driver(arguments);
  return run_metalloid(arguments);
}

}  // namespace

Program find_driver(std::string_view name) {
  constexpr std::pair<std::string_view, Program> drivers[] = {
      {"metal", run_metal}, {"metal-ar", run_metal_ar}, {"metallib", run_metallib}, {"xcrun", run_xcrun}};
  for (const auto& [driver_name, program] : drivers)
    if (driver_name == name) return program;
  return nullptr;
}

}  // namespace metalloid::tool

int main(int argc, char** argv) {
  using namespace metalloid::tool;
  std::string name = argc > 0 ? std::filesystem::path(argv[0]).filename().string() : "metalloid";
  try {
    return run(name, Arguments(argv + std::min(argc, 1), argv + argc));
  } catch (const Failure& failure) {
    std::fflush(stdout);  // what was printed before comes before
    if (failure.is_diagnostics)
      fmt::print(stderr, "{}", failure.message);
    else
      fmt::print(stderr, "{}: error: {}\n", name, failure.message);
    return failure.exit_code;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: error: there is not enough memory for that\n", name);
    return exit_file_error;
  } catch (const std::exception& exception) {
    fmt::print(stderr, "{}: error: {}\n", name, exception.what());
    return exit_file_error;
  }
}
