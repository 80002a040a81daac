// The programs that live in this executable, and how they end. `metalloid` has subcommands; `metal`, `metallib`,
// `metal-ar` and `xcrun` are links to it that behave like Apple's tools of those names.
#pragma once

#include <CLI/App.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace metalloid::tool {

enum ExitCode { exit_success = 0, exit_source_error = 1, exit_usage_error = 2, exit_file_error = 3 };

inline constexpr const char* exit_code_help =
    "Exit codes: 0 success, 1 the source has errors or the kernel failed, 2 wrong usage, 3 a file cannot be read or "
    "written.";

// Thrown to end a program early; its message is printed once, after the program's name, or as it is if it consists of
// the compiler's diagnostics.
struct Failure {
  int exit_code;
  std::string message;
  bool is_diagnostics = false;
};

using Arguments = std::vector<std::string>;

int run_metal(const Arguments& arguments);
int run_metal_ar(const Arguments& arguments);
int run_metallib(const Arguments& arguments);
int run_xcrun(const Arguments& arguments);
int run_compile(const Arguments& arguments);

// One of the programs that stand in for Apple's; null if there is none of that name.
using Program = int (*)(const Arguments&);
Program find_driver(std::string_view name);

void add_inspect(CLI::App& app);
void add_bench(CLI::App& app);
void add_devices(CLI::App& app);
void add_run(CLI::App& app);
void add_check(CLI::App& app);
void add_fuzz(CLI::App& app);
void add_train(CLI::App& app);

}  // namespace metalloid::tool
