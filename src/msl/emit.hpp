// One function and all it calls, from syntax tree to a finished bitcode module: Clang's code generation, then a light
// clean-up that suits every device (everything inlined, address spaces inferred), verified.
#pragma once

#include <metalloid/library.hpp>

#include "msl/clang_headers.hpp"
#include "msl/reachable.hpp"

namespace metalloid::msl {

// The module's symbol for the function is `function.name`. A function constant is an external global named
// metal.function_constant.<index>; a builtin is a declaration named metal.*; everything else is defined and internal.
Result<Code> emit(clang::CompilerInstance& instance, const Function& function, const Reachable& reachable,
                  const std::vector<FunctionConstant>& constants);

}  // namespace metalloid::msl
