#include "cpu/vector/skip_branches.hpp"

#include <llvm/IR/CFG.h>

#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

// Whether a side of a branch ends where the other begins, perhaps after a block that only leads on.
bool is_passed_by(const llvm::BasicBlock* side, const llvm::BasicBlock* other) {
  const llvm::BasicBlock* end = other->size() == 1 ? other->getSingleSuccessor() : other;
  return end && side->size() > 1 && side->getSingleSuccessor() == end;
}

}  // namespace

bool skip_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  llvm::SmallVector<llvm::BasicBlock*> found;
  for (llvm::BasicBlock& block : function)
    if (shapes.is_divergent_branch(&block) && !shapes.is_masked(&block) && shapes.is_limit(&block) &&
        llvm::all_of(llvm::successors(&block),
                     [&](const auto* next) { return loops.getLoopFor(next) == loops.getLoopFor(&block); }))
      found.push_back(&block);
  bool any = false;
  for (llvm::BasicBlock* block : found) {
    llvm::BasicBlock *side = block->getTerminator()->getSuccessor(0), *other = block->getTerminator()->getSuccessor(1);
    if (!is_passed_by(side, other)) std::swap(side, other);
    if (!is_passed_by(side, other)) continue;
    llvm::Value* passes = goes_to(block, other);
    llvm::BasicBlock* apart = split_off_end(block);
    for (llvm::PHINode& phi : other->phis()) phi.addIncoming(phi.getIncomingValueForBlock(apart), block);
    branch_together(block, passes, other, apart);
    any = true;
  }
  return any;
}

}  // namespace metalloid::cpu::vector
