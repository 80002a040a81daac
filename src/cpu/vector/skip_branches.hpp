// Sides of branches that no lane takes. In
//
//     if (i < stride) …
//
// most groups have all lanes on one side, and the number of the first lane, or the last, tells: without computing a
// mask they go past the other.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any; then edges are critical that the widener does not expect to be.
bool skip_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
