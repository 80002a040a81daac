// The syntax tree's kernels, visible functions and function constants, as reflection data.
#pragma once

#include <metalloid/reflection.hpp>
#include <string>
#include <vector>

#include "msl/clang_headers.hpp"

namespace metalloid::msl {

// With its namespaces, "filters::blur", but those that are not spelled.
std::string name_in_library(const clang::NamedDecl* declaration);

// Of a parameter, or of a variable outside of functions.
GridValue grid_value_of(const clang::VarDecl* variable);

struct Reflection {
  std::vector<Function> functions;
  std::vector<clang::FunctionDecl*> declarations;  // of the functions, in the same order
  std::vector<FunctionConstant> constants;
};

// With `for_linking`, functions that other files may call are among them. Reports what is wrong with the functions'
// signatures (a parameter that is no resource and has no attribute, two buffers at one index) through Sema's
// diagnostics.
Reflection reflect(clang::Sema& sema, bool for_linking);

}  // namespace metalloid::msl
