#include "cpu/vector/restarts.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

bool is_effect(const llvm::Instruction& instruction) {
  return instruction.mayHaveSideEffects() || instruction.isAtomic();
}

bool has_effects(const llvm::BasicBlock& block) {
  return llvm::any_of(block, is_effect);
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

// Lanes count upwards from somewhere in the grid, and one side is for those beyond a limit.
bool counts_to_a_limit(const llvm::BasicBlock& block, const ShapeAnalysis& shapes) {
  if (!shapes.is_limit(&block)) return false;
  const auto& condition =
      llvm::cast<llvm::ICmpInst>(*llvm::cast<llvm::BranchInst>(block.getTerminator())->getCondition());
  const bool is_first = shapes.is_uniform(condition.getOperand(1));
  return condition.isRelational() && (is_first || shapes.is_uniform(condition.getOperand(0))) &&
         shapes.shape(condition.getOperand(is_first ? 0 : 1)).alignment != Shape::zero_base;
}

}  // namespace

bool nothing_happens_before(const llvm::Instruction& place) {
  const llvm::BasicBlock* block = place.getParent();
  for (const llvm::Instruction& instruction : *block) {
    if (&instruction == &place) break;
    if (is_effect(instruction)) return false;
  }
  for (const llvm::BasicBlock* before : llvm::inverse_depth_first(block)) {
    if (llvm::is_contained(llvm::successors(block), before)) return false;  // a loop
    if (before != block && has_effects(*before)) return false;
  }
  return true;
}

std::optional<unsigned> early_end(const llvm::BasicBlock& block) {
  const llvm::Instruction* branch = block.getTerminator();
  if (branch->getNumSuccessors() != 2) return std::nullopt;
  const bool ends[2] = {ends_the_kernel(branch->getSuccessor(0)), ends_the_kernel(branch->getSuccessor(1))};
  if (ends[0] == ends[1] || !nothing_happens_before(*branch)) return std::nullopt;
  return ends[0] ? 0 : 1;
}

llvm::SmallVector<const llvm::BasicBlock*> find_restarts(const llvm::Function& function, const ShapeAnalysis& shapes) {
  llvm::SmallVector<const llvm::BasicBlock*> found;
  for (const llvm::BasicBlock& block : function)
    if (shapes.is_divergent_branch(&block) && !shapes.is_masked(&block) &&
        (early_end(block) || (counts_to_a_limit(block, shapes) && nothing_happens_before(*block.getTerminator()))))
      found.push_back(&block);
  return found;
}

}  // namespace metalloid::cpu::vector
