// One function and all it calls, from syntax tree to a finished bitcode module: Clang's code generation, what Metal
// defines and LLVM does not, then what suits every device (finish.hpp).
#pragma once

#include <metalloid/library.hpp>

#include "msl/clang_headers.hpp"
#include "msl/reachable.hpp"

namespace metalloid::msl {

// The module's symbol for the function is `function.name`. A function constant is an external global named
// metal.function_constant.<index>; a grid value outside of functions is a parameter behind the others; a builtin is a
// declaration named metal.*; everything else is defined and internal, but for what other files define.
Result<Code> emit(clang::CompilerInstance& instance, const Function& function, const Reachable& reachable,
                  const std::vector<FunctionConstant>& constants);

}  // namespace metalloid::msl
