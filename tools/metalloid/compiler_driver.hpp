// The work behind `metalloid compile` and `metal`: from inputs to a preprocessed text, .air files or a library.
#pragma once

#include <string>

#include "compiler_arguments.hpp"

namespace metalloid::tool {

// `default_output` is the library's name where -o does not say.
int run_compiler(const CompilerArguments& arguments, const std::string& default_output);

}  // namespace metalloid::tool
