// A loop over the groups of a threadgroup in the code itself. A kernel without loops is so short that what comes before
// the first result, addresses of arguments and constants in all lanes, is a good part of it: once for all groups.
#pragma once

#include <llvm/IR/Function.h>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

// Widened code of one group becomes code of as many as its state says, unless it has loops or waits for other groups.
void loop_over_groups(llvm::Function& function, const Variant& variant);

// Whether it did.
bool runs_many_groups(const llvm::Function& function);

}  // namespace metalloid::cpu::vector
