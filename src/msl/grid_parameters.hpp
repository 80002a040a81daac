// Grid values that are variables outside of functions. Where the code of a kernel uses one, it is a global named
// metal.grid_variable.<name>; once everything is inlined, the kernel gets a parameter for each of them.
#pragma once

#include <llvm/IR/Function.h>

#include <metalloid/reflection.hpp>
#include <metalloid/result.hpp>
#include <span>

namespace metalloid::msl {

constexpr llvm::StringLiteral grid_variable_prefix = "metal.grid_variable.";

// Appends parameters for these to those of the function. An error if other functions use them.
Status add_grid_parameters(llvm::Function& kernel, std::span<const Parameter> variables);

}  // namespace metalloid::msl
