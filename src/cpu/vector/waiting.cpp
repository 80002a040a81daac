#include "cpu/vector/waiting.hpp"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/CFG.h>

namespace metalloid::cpu::vector {

bool tries_again(const llvm::AtomicCmpXchgInst& exchange, const llvm::Loop& loop) {
  const auto* expected = llvm::dyn_cast<llvm::Instruction>(exchange.getCompareOperand());
  return expected && loop.contains(expected);
}

namespace {

bool reads_what_others_write(const llvm::Instruction& instruction) {
  return instruction.mayReadFromMemory() && (instruction.isAtomic() || instruction.isVolatile());
}

using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock*, 16>;

// Adds the conditions that decide which of its values a phi has.
void add_conditions(const llvm::PHINode& phi, const llvm::DominatorTree& dominators,
                    llvm::SmallVectorImpl<const llvm::Value*>& conditions) {
  const auto* node = dominators.getNode(phi.getParent());
  const llvm::BasicBlock* parting = node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
  Blocks seen;
  llvm::SmallVector<const llvm::BasicBlock*> left(phi.blocks());
  while (!left.empty()) {
    const llvm::BasicBlock* block = left.pop_back_val();
    if (block == phi.getParent() || !seen.insert(block).second) continue;
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch && branch->isConditional()) conditions.push_back(branch->getCondition());
    if (block != parting) left.append(llvm::pred_begin(block), llvm::pred_end(block));
  }
}

// The first such read among what a value of the loop is computed from, or chosen by.
const llvm::Instruction* find_read(const llvm::Value* value, const llvm::Loop& loop,
                                   const llvm::DominatorTree& dominators) {
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
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction);
    if (phi && phi->getParent() != loop.getHeader()) add_conditions(*phi, dominators, left);
  }
  return nullptr;
}

// Null: it is no access.
const llvm::Value* address_of(const llvm::Instruction& instruction) {
  if (const auto* change = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return change->getPointerOperand();
  if (const auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
    return exchange->getPointerOperand();
  return llvm::getLoadStorePointerOperand(&instruction);
}

bool may_write(const llvm::Instruction& instruction, const llvm::Instruction& read) {
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    return call->getCalledFunction() && !call->getCalledFunction()->isDeclaration();
  const llvm::Value *to = address_of(instruction), *from = address_of(read);
  return instruction.mayWriteToMemory() && to && from && to->getType() == from->getType();  // of one address space
}

// Without coming past the branch again.
Blocks reached_by(const llvm::BasicBlock& branch, unsigned way) {
  Blocks reached;
  llvm::SmallVector<const llvm::BasicBlock*> left{branch.getTerminator()->getSuccessor(way)};
  while (!left.empty()) {
    const llvm::BasicBlock* block = left.pop_back_val();
    if (block != &branch && reached.insert(block).second) left.append(llvm::succ_begin(block), llvm::succ_end(block));
  }
  return reached;
}

// Whether lanes that went another way than into the loop may write there what is read in it.
bool is_written_elsewhere(const llvm::Instruction& read, const llvm::Loop& loop, const ShapeAnalysis& shapes) {
  for (const llvm::BasicBlock& branch : *loop.getHeader()->getParent()) {
    if (!shapes.is_divergent_branch(&branch) || loop.contains(&branch)) continue;
    for (const unsigned way : {0u, 1u}) {
      const Blocks here = reached_by(branch, way), there = reached_by(branch, 1 - way);
      if (!here.contains(loop.getHeader()) || there.contains(loop.getHeader())) continue;
      for (const llvm::BasicBlock* block : there)
        if (!here.contains(block) &&
            llvm::any_of(*block, [&](const llvm::Instruction& next) { return may_write(next, read); }))
          return true;
    }
  }
  return false;
}

}  // namespace

const llvm::Instruction* find_waiting(const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators,
                                      const ShapeAnalysis& shapes) {
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::SmallVector<llvm::BasicBlock*> exiting;
    loop->getExitingBlocks(exiting);
    for (const llvm::BasicBlock* block : exiting) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
      if (!branch || !branch->isConditional()) continue;
      const llvm::Instruction* read = find_read(branch->getCondition(), *loop, dominators);
      if (read && (shapes.is_divergent_branch(block) || is_written_elsewhere(*read, *loop, shapes))) return read;
    }
  }
  return nullptr;
}

}  // namespace metalloid::cpu::vector
