// metallib: links .air files and archives of them into one library.
#include <fmt/core.h>

#include <metalloid/version.hpp>

#include "files.hpp"
#include "program.hpp"

namespace metalloid::tool {

namespace {

constexpr std::string_view help =
    "Links compiled Metal files into one library.\n\n"
    "Usage: metallib FILE... [-o LIBRARY]\n\n"
    "A FILE is an .air, .metalar or .metallib file, or - for one from standard input. The library is named\n"
    "default.metallib if -o does not say; - writes it to standard output.\n\n"
    "Example:\n"
    "  metal -c softmax.metal -o - | metallib - -o softmax.metallib\n\n";

// Details of Apple's own file format.
bool has_no_effect(std::string_view option) {
  return option == "-split-module" || option == "-split-module-without-linking" || option == "-v" ||
         option == "-verbose";
}

}  // namespace

int run_metallib(const Arguments& arguments) {
  std::string output = "default.metallib";
  std::vector<std::string> inputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-h" || argument == "-help" || argument == "--help") {
      fmt::print("{}{}\n", help, exit_code_help);
      return exit_success;
    }
    if (argument == "--version" || argument == "-version") {
      fmt::print("metallib (Metalloid {})\n", version);
      return exit_success;
    }
    if (argument == "-o") {
      if (++i == arguments.size()) throw Failure{exit_usage_error, "option '-o' needs a value after it"};
      output = arguments[i];
    } else if (argument.starts_with('-') && argument != standard_stream) {
      if (!has_no_effect(argument))
        throw Failure{exit_usage_error, fmt::format("unknown option '{}'; --help lists the known ones", argument)};
    } else {
      inputs.push_back(argument);
    }
  }
  if (inputs.empty()) throw Failure{exit_usage_error, "no input files"};

  std::vector<std::shared_ptr<Library>> libraries;
  for (const std::string& input : inputs) {
    auto read = read_libraries(input);
    libraries.insert(libraries.end(), read.begin(), read.end());
  }
  write_library(*link_libraries(libraries), output);
  return exit_success;
}

}  // namespace metalloid::tool
