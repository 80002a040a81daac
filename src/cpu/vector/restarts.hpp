// Where a group may start again as a partial one. A kernel that begins with
//
//     if (i >= n) return;
//
// masks everything it does, for the sake of one group at the end of the grid. If nothing has happened yet, the group
// can be asked instead: its lanes agree, or it is one of the few that run another variant of the code.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include <optional>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// The side of a block's branch that ends the kernel before anything happened, if one alone does.
std::optional<unsigned> early_end(const llvm::BasicBlock& block);

// Blocks with a branch that lanes disagree on, before anything happens, one side of which ends the kernel.
llvm::SmallVector<const llvm::BasicBlock*> find_restarts(const llvm::Function& function, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
