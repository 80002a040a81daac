// Branches that lanes disagree on become straight lines of code. In
//
//     for (uint k = 0; k < 4; ++k) y[4 * i + k] = isnan(x[4 * i + k]) ? 0 : log(1 + x[4 * i + k]);
//
// each of four stores is in a block of its own, behind a branch, and what lanes store side by side is scattered. One
// lane or another takes the long way in nearly every group, so that the way is worth no branch: all lanes compute, a
// selection takes what each wants, and the stores are in one block, where they are made together. Where there are no
// such stores, only ways of a few instructions are taken by all: a branch past a longer one that no lane wants saves
// more than straight code does. Ways stay as they are, too, if they are rarely taken, access memory, or would do harm
// to a lane that does not take them.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any.
bool flatten_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
