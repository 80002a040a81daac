#include "cpu/vector/all_lanes.hpp"

#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>

namespace metalloid::cpu::vector {

llvm::Value* goes_to(llvm::BasicBlock* block, const llvm::BasicBlock* target) {
  auto* branch = llvm::cast<llvm::BranchInst>(block->getTerminator());
  auto* condition = llvm::cast<llvm::ICmpInst>(branch->getCondition());
  const bool is_first = branch->getSuccessor(0) == target;
  return llvm::IRBuilder<>(branch).CreateICmp(is_first ? condition->getPredicate() : condition->getInversePredicate(),
                                              condition->getOperand(0), condition->getOperand(1));
}

llvm::BranchInst* branch_together(llvm::BasicBlock* block, llvm::Value* condition, llvm::BasicBlock* together,
                                  llvm::BasicBlock* apart) {
  block->getTerminator()->eraseFromParent();
  llvm::IRBuilder<> builder(block);
  llvm::FunctionCallee all =
      block->getModule()->getOrInsertFunction(all_lanes_function, builder.getInt1Ty(), builder.getInt1Ty());
  llvm::cast<llvm::Function>(all.getCallee())->setDoesNotAccessMemory();
  return builder.CreateCondBr(builder.CreateCall(all, {condition}), together, apart,
                              llvm::MDBuilder(block->getContext()).createLikelyBranchWeights());
}

llvm::BasicBlock* split_off_end(llvm::BasicBlock* block) {
  llvm::BasicBlock* end = llvm::BasicBlock::Create(block->getContext(), block->getName(), block->getParent());
  block->getTerminator()->clone()->insertInto(end, end->end());
  for (llvm::BasicBlock* next : llvm::successors(end)) next->replacePhiUsesWith(block, end);
  return end;
}

}  // namespace metalloid::cpu::vector
