// Function constants get their values: `metal.function_constant.N` becomes a constant with an initialiser, questions
// whether it is defined are answered, and what is derived from it in constructors is evaluated, so that nothing of
// function constants is left in the module.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/library.hpp>
#include <metalloid/result.hpp>
#include <span>
#include <string>

#include "device/pipeline.hpp"

namespace metalloid::bitcode {

// An error names the function and the constant: one that needs a value and has none, or a value of the wrong size.
Status set_function_constants(llvm::Module& module, const std::string& function, std::span<const FunctionConstant> used,
                              std::span<const device::ConstantValue> values);

}  // namespace metalloid::bitcode
