#include "cpu/vector/waiting.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::cpu::vector {

namespace {

// Trying again with what was found in memory is not waiting: one lane after the other succeeds.
bool tries_again(const llvm::AtomicCmpXchgInst& exchange, const llvm::Loop& loop) {
  const auto* expected = llvm::dyn_cast<llvm::Instruction>(exchange.getCompareOperand());
  return expected && loop.contains(expected);
}

bool reads_what_others_write(const llvm::Instruction& instruction) {
  return instruction.mayReadFromMemory() && (instruction.isAtomic() || instruction.isVolatile());
}

// The first such read among what a value of the loop is computed from.
const llvm::Instruction* find_read(const llvm::Value* value, const llvm::Loop& loop) {
  llvm::SmallPtrSet<const llvm::Value*, 32> seen;
  llvm::SmallVector<const llvm::Value*> left{value};
  while (!left.empty()) {
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(left.pop_back_val());
    if (!instruction || !loop.contains(instruction) || !seen.insert(instruction).second) continue;
    if (reads_what_others_write(*instruction)) {
      const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(instruction);
      if (!exchange || !tries_again(*exchange, loop)) return instruction;
      continue;
    }
    left.append(instruction->op_begin(), instruction->op_end());
  }
  return nullptr;
}

}  // namespace

const llvm::Instruction* find_waiting(const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!shapes.is_divergent_loop(loop)) continue;
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    loop->getExitingBlocks(exiting);
    for (const llvm::BasicBlock* block : exiting)
      if (shapes.is_divergent_branch(block))
        if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
            branch && branch->isConditional())
          if (const llvm::Instruction* read = find_read(branch->getCondition(), *loop)) return read;
  }
  return nullptr;
}

}  // namespace metalloid::cpu::vector
