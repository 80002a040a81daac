// Branches that lanes disagree on become straight lines of code. In
//
//     y = isnan(x) ? x : exp(x);
//
// one lane or another takes the long way in nearly every group, so the way is worth no branch: all lanes compute, and a
// selection takes what each wants. That needs no masks; and what was in several blocks is in one, where accesses of a
// lane that lie side by side are made together. Ways stay as they are if they are long or rarely taken, access memory,
// or would do harm to a lane that does not take them.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any.
bool flatten_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
