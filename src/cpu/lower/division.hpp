// Integer division by zero, and the one signed division that overflows, have some result on a GPU; on processors they
// trap, and LLVM takes it that they never happen. The divisor becomes 1 in these cases.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::lower {

void make_division_total(llvm::Module& module);

}  // namespace metalloid::cpu::lower
