// The command line of a compiler: what `metalloid compile` and `metal` understand. Every option is one row of one
// table, from which the help is made too.
#pragma once

#include <metalloid/compiler.hpp>
#include <optional>
#include <string>
#include <vector>

#include "program.hpp"

namespace metalloid::tool {

// How far the work goes.
enum class Stage { list_dependencies, preprocess, check, compile, link };

struct Input {
  std::string path;
  bool is_source;  // otherwise a library or an archive of them
};

// A rule for make, in a file beside the output.
struct DependencyRule {
  bool wanted = false;
  std::string file;  // empty: the output's name with .d
  std::vector<std::string> targets;
  bool phony_targets = false;
};

struct CompilerArguments {
  Stage stage = Stage::link;
  std::vector<Input> inputs;
  std::string output;
  CompileOptions options;
  DependencyRule dependency_rule;
  std::vector<std::string> devices;  // to make code for ahead of time
  bool cubin = false;                // and machine code, too
  bool list_headers = false;
  bool line_markers = true;
  std::optional<bool> colour;
  bool help = false, version = false;
  std::string language_of_inputs;           // -x, for the inputs that follow
  std::optional<LanguageVersion> standard;  // -std=
  std::optional<LanguageVersion> target;    // -target, -mmacosx-version-min=
  std::vector<std::string> warnings;
};

CompilerArguments parse_compiler_arguments(const Arguments& arguments);

// One line per option.
std::string compiler_options_help();

}  // namespace metalloid::tool
