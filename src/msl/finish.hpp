// The last steps from a module with a function and all that it calls to the code of a library: only the function is
// seen from outside, everything is inlined, address spaces are inferred, the module is verified.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/library.hpp>
#include <span>

namespace metalloid::msl {

// The names of function constants, before their index.
constexpr llvm::StringLiteral function_constant_prefix = "metal.function_constant.";

struct FinishOptions {
  bool optimise = true;
  bool may_call_undefined = false;                 // what that is, the code says
  std::span<const Parameter> grid_variables = {};  // grid_parameters.hpp
};

// `constants` are those that the module may use.
Result<Code> finish(llvm::Module& module, const std::string& entry, const std::vector<FunctionConstant>& constants,
                    FinishOptions options);

}  // namespace metalloid::msl
