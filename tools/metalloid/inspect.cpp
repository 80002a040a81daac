// metalloid inspect: what a library says about its functions.
#include <fmt/core.h>
#include <unistd.h>

#include <memory>

#include "files.hpp"
#include "library/describe.hpp"
#include "program.hpp"
#include "terminal.hpp"

namespace metalloid::tool {

namespace {

struct InspectArguments {
  std::vector<std::string> paths;
  std::string function;
  bool json = false;
};

void inspect(const InspectArguments& arguments) {
  std::vector<std::shared_ptr<Library>> libraries;
  for (const std::string& path : arguments.paths) {
    auto read = read_libraries(path);
    libraries.insert(libraries.end(), read.begin(), read.end());
  }
  std::shared_ptr<Library> library = link_libraries(libraries);

  DescribeOptions options;
  if (!arguments.function.empty()) options.function = arguments.function;
  options.colour = takes_colour(STDOUT_FILENO);
  auto description = arguments.json ? describe_json(*library, options) : describe_text(*library, options);
  if (!description) throw Failure{exit_usage_error, description.error()};
  if (!description->ends_with('\n')) description->push_back('\n');
  write_output(std::string(standard_stream), *description);
}

}  // namespace

void add_inspect(CLI::App& app) {
  auto arguments = std::make_shared<InspectArguments>();
  CLI::App* command = app.add_subcommand("inspect", "Show what is in a compiled library");
  command->add_option("LIBRARY", arguments->paths, ".metallib, .air or .metalar files; - is standard input")
      ->required();
  command->add_option("-f,--function", arguments->function, "Only this function, in full");
  command->add_flag("--json", arguments->json, "As JSON");
  command->footer(
      fmt::format("Examples:\n"
                  "  metalloid inspect softmax.metallib\n"
                  "  metalloid inspect default.metallib --function softmax_row\n"
                  "  metalloid inspect softmax.metallib --json\n\n{}\n",
                  exit_code_help));
  command->callback([arguments] { inspect(*arguments); });
}

}  // namespace metalloid::tool
