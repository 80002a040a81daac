#include "cpu/vector/restarts.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

bool has_effects(const llvm::BasicBlock& block) {
  return llvm::any_of(block, [](const llvm::Instruction& instruction) {
    return instruction.mayHaveSideEffects() || instruction.isAtomic();
  });
}

bool ends_the_kernel(const llvm::BasicBlock* block) {
  for (unsigned steps = 0; steps < 8; ++steps) {
    if (has_effects(*block)) return false;
    if (llvm::isa<llvm::ReturnInst>(block->getTerminator())) return true;
    block = block->getSingleSuccessor();
    if (!block) return false;
  }
  return false;
}

bool nothing_happens_before(const llvm::BasicBlock* block) {
  for (const llvm::BasicBlock* before : llvm::inverse_depth_first(block)) {
    if (has_effects(*before)) return false;
    if (before != block && llvm::is_contained(llvm::successors(block), before)) return false;  // a loop
  }
  return true;
}

}  // namespace

std::optional<unsigned> early_end(const llvm::BasicBlock& block) {
  const llvm::Instruction* branch = block.getTerminator();
  if (branch->getNumSuccessors() != 2) return std::nullopt;
  const bool ends[2] = {ends_the_kernel(branch->getSuccessor(0)), ends_the_kernel(branch->getSuccessor(1))};
  if (ends[0] == ends[1] || !nothing_happens_before(&block)) return std::nullopt;
  return ends[0] ? 0 : 1;
}

llvm::SmallVector<const llvm::BasicBlock*> find_restarts(const llvm::Function& function, const ShapeAnalysis& shapes) {
  llvm::SmallVector<const llvm::BasicBlock*> found;
  for (const llvm::BasicBlock& block : function)
    if (shapes.is_divergent_branch(&block) && !shapes.is_masked(&block) && early_end(block)) found.push_back(&block);
  return found;
}

}  // namespace metalloid::cpu::vector
