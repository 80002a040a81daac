// The multiplication with a power of two that exponentials end with (scale in src/builtins/exponential.hpp), where the
// processor has no instruction for it: with one half of the power, then with the other.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::lower {

void expand_scaling(llvm::Module& module);

}  // namespace metalloid::cpu::lower
