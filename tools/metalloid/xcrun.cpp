// xcrun: finds and runs the other tools. Those that are not ours are looked for in PATH.
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <metalloid/version.hpp>
#include <optional>
#include <sstream>

#include "program.hpp"

namespace metalloid::tool {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view help =
    "Runs a tool as Xcode's xcrun does: metal, metallib and metal-ar are Metalloid's, others come from PATH.\n\n"
    "Usage: xcrun [-sdk NAME] TOOL [ARGUMENT...]\n"
    "       xcrun [-sdk NAME] --find TOOL\n\n"
    "Options:\n"
    "  -sdk NAME, --sdk NAME          any name is taken: there is one Metal here\n"
    "  -toolchain NAME                the same\n"
    "  -f TOOL, --find TOOL           print the tool's path\n"
    "  --show-sdk-version             print the macOS version whose Metal this is\n"
    "  -r, --run, -n, --no-cache, -k, --kill-cache, -v, --verbose, -l, --log   no effect\n\n"
    "Example:\n"
    "  xcrun -sdk macosx metal -c softmax.metal -o softmax.air\n\n";

// The system that Metal 3.2, the newest language we compile, came with.
constexpr std::string_view sdk_version = "15.0";
constexpr int tool_not_found = 72;  // what Xcode's xcrun ends with

std::optional<fs::path> find_program(const std::string& name) {
  if (find_driver(name)) return fs::read_symlink("/proc/self/exe").parent_path() / name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder.empty() ? "." : folder) / name;
    if (fs::is_regular_file(candidate) && ::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

fs::path require_program(const std::string& name) {
  if (auto program = find_program(name)) return *program;
  throw Failure{tool_not_found, fmt::format("there is no tool '{}', neither in Metalloid nor in PATH", name)};
}

int run_tool(const std::string& name, const Arguments& arguments) {
  if (Program driver = find_driver(name)) return driver(arguments);
  fs::path program = require_program(name);
  std::vector<char*> argv = {const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  throw Failure{tool_not_found, fmt::format("cannot run '{}': {}", program.string(), std::strerror(errno))};
}

}  // namespace

int run_xcrun(const Arguments& arguments) {
  bool find = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view option = arguments[i];
    if (!option.starts_with('-')) {
      if (!find) return run_tool(arguments[i], {arguments.begin() + i + 1, arguments.end()});
      fmt::print("{}\n", require_program(arguments[i]).string());
      return exit_success;
    }
    if (option.starts_with("--")) option.remove_prefix(1);
    if (option == "-sdk" || option == "-toolchain") {
      if (++i == arguments.size())
        throw Failure{exit_usage_error, fmt::format("option '{}' needs a value after it", arguments[i - 1])};
    } else if (option == "-f" || option == "-find") {
      find = true;
    } else if (option == "-show-sdk-version" || option == "-show-sdk-platform-version") {
      fmt::print("{}\n", sdk_version);
      return exit_success;
    } else if (option == "-version") {
      fmt::print("xcrun (Metalloid {})\n", version);
      return exit_success;
    } else if (option == "-h" || option == "-help") {
      fmt::print("{}{}\n", help, exit_code_help);
      return exit_success;
    } else if (option.starts_with("-show-")) {
      throw Failure{exit_usage_error, fmt::format("'{}': there is no Apple SDK here", arguments[i])};
    } else if (option != "-r" && option != "-run" && option != "-n" && option != "-no-cache" && option != "-k" &&
               option != "-kill-cache" && option != "-v" && option != "-verbose" && option != "-l" &&
               option != "-log" && !option.starts_with("-sdk=")) {
      throw Failure{exit_usage_error, fmt::format("unknown option '{}'; --help lists the known ones", arguments[i])};
    }
  }
  throw Failure{exit_usage_error, "no tool to run; for example: xcrun -sdk macosx metal -c softmax.metal"};
}

}  // namespace metalloid::tool
