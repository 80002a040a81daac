// Where a group may start again as a partial one. A kernel that begins with
//
//     if (i >= n) return;
//
// masks everything it does, for the sake of one group at the end of the grid; and so does one that begins with
//
//     if (4 * i + 4 > n) what is left; else four at a time;
//
// If nothing has happened yet, the group can be asked instead: its lanes agree, or it is one of the few that run
// another variant of the code.
#pragma once

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Function.h>

#include <optional>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Lane form's way to say so, for passes that prepare a group for what hardly any group is not: declared as
//
//     declare void @metalloid.start_again()    all lanes are there, and the kernel ends
constexpr llvm::StringLiteral start_again_function = "metalloid.start_again";

// Whether the group may start again there.
bool nothing_happens_before(const llvm::Instruction& place);

// The side of a block's branch that ends the kernel before anything happened, if one alone does.
std::optional<unsigned> early_end(const llvm::BasicBlock& block);

// Blocks with a branch that lanes disagree on, before anything happens, one side of which ends the kernel or is for
// threads beyond a limit.
llvm::SmallVector<const llvm::BasicBlock*> find_restarts(const llvm::Function& function, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
