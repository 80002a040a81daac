// Loops that lanes leave apart, split in two. In
//
//     for (uint j = lane; j < n; j += 32) …
//
// lanes leave in different iterations, but only in the last two. A copy of the loop runs for as long as all lanes go
// round, without masks; the loop itself does what is left, with them, if there is anything left.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any; then the form that the widener expects of loops is lost.
bool split_loops(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
