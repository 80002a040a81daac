#include "cpu/vector/split_loops.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

// Copies cost time to compile: that of a larger loop gains less, since masks are a smaller part of it.
constexpr unsigned most_instructions = 200;

// How often lanes are thought to go round together. Fewer times than LLVM thinks of all loops: threads divide among
// them what a loop like `for (i = thread; i < n; i += threads)` goes through.
constexpr uint32_t rounds = 8;

// A loop that tests its condition at the end, and perhaps once before it is entered.
struct Candidate {
  llvm::BasicBlock* guard = nullptr;  // null: it is entered by all lanes
  llvm::BasicBlock *preheader = nullptr, *header = nullptr, *latch = nullptr, *exit = nullptr;
  llvm::BasicBlock *end = nullptr,
                   *again = nullptr;  // the block that tests, and where it goes round: maybe by the latch
  llvm::BasicBlock* after = nullptr;  // the exit, or what comes next if the exit only leads on
  llvm::SmallVector<llvm::BasicBlock*> copied;
};

llvm::BranchInst* branch_of(llvm::BasicBlock* block) {
  return llvm::cast<llvm::BranchInst>(block->getTerminator());
}

bool is_small(llvm::ArrayRef<llvm::BasicBlock*> blocks) {
  size_t count = 0;
  for (const llvm::BasicBlock* block : blocks) count += block->size();
  return count <= most_instructions;
}

// Whether nothing outside the blocks uses what the first of them computes.
bool keeps_to_itself(llvm::ArrayRef<llvm::BasicBlock*> blocks) {
  return llvm::all_of(*blocks.front(), [&](const llvm::Instruction& instruction) {
    return llvm::all_of(instruction.users(), [&](const llvm::User* user) {
      return llvm::is_contained(blocks, llvm::cast<llvm::Instruction>(user)->getParent());
    });
  });
}

// Whether a block only leads on from another.
bool is_between(const llvm::BasicBlock* from, const llvm::BasicBlock* block) {
  return block->getSinglePredecessor() == from && block->size() == 1;
}

// Behind an exit without code of its own, those that left come together with those that never entered.
llvm::BasicBlock* after_exit(llvm::BasicBlock* exit, const llvm::LoopInfo& loops) {
  llvm::BasicBlock* next = exit->getSingleSuccessor();
  const bool leads_on =
      next && !next->getSinglePredecessor() && exit->getFirstNonPHIIt() == exit->getTerminator()->getIterator();
  return leads_on && loops.getLoopFor(next) == loops.getLoopFor(exit) && !loops.isLoopHeader(next) ? next : exit;
}

std::optional<Candidate> candidate(const llvm::Loop& loop, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  Candidate found;
  found.preheader = loop.getLoopPreheader();
  found.header = loop.getHeader();
  found.latch = loop.getLoopLatch();
  found.end = loop.getExitingBlock();
  if (!shapes.is_divergent_loop(&loop) || !found.preheader || !found.end || !shapes.is_limit(found.end) ||
      !(found.end == found.latch || is_between(found.end, found.latch)))
    return std::nullopt;
  found.again = found.end == found.latch ? found.header : found.latch;
  found.exit = loop.getExitBlock();
  found.after = after_exit(found.exit, loops);
  if (shapes.is_masked(found.preheader)) {
    found.guard = found.preheader->getSinglePredecessor();
    if (!found.guard || shapes.is_masked(found.guard) || !shapes.is_divergent_branch(found.guard) ||
        !shapes.is_limit(found.guard))
      return std::nullopt;
    found.copied.push_back(found.preheader);
  }
  found.copied.append(loop.block_begin(), loop.block_end());
  if (!is_small(found.copied) || (found.guard && !keeps_to_itself(found.copied))) return std::nullopt;
  return found;
}

// What was computed before the loop, and has been before its copy if lanes come from there.
void join(llvm::Instruction& before, llvm::Instruction* copy, const Candidate& loop, llvm::BasicBlock* parting) {
  auto* phi = llvm::PHINode::Create(before.getType(), 3, "", loop.header->begin());
  before.replaceUsesWithIf(phi, [&](const llvm::Use& use) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* joins = llvm::dyn_cast<llvm::PHINode>(user);
    return user->getParent() != loop.preheader && !(joins && joins->getIncomingBlock(use) == loop.preheader);
  });
  phi->addIncoming(&before, loop.preheader);
  phi->addIncoming(copy, parting);
  phi->addIncoming(phi, loop.latch);
}

void split(llvm::Function& function, const Candidate& loop) {
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock* block : loop.copied) {
    blocks.push_back(llvm::CloneBasicBlock(block, copies, ".together", &function));
    copies[block] = blocks.back();
  }
  llvm::remapInstructionsInBlocks(blocks, copies);
  const auto copy_of = [&](auto* value) -> decltype(value) {
    llvm::Value* copy = copies.lookup(value);
    return copy ? llvm::cast<std::remove_pointer_t<decltype(value)>>(copy) : value;
  };
  llvm::BasicBlock *const end = copy_of(loop.end), *const again = copy_of(loop.again);

  // Where all lanes leave after going round together, or part.
  llvm::LLVMContext& context = function.getContext();
  auto* leaving = llvm::BasicBlock::Create(context, "leaving", &function);
  auto* parting = llvm::BasicBlock::Create(context, "parting", &function);
  auto* stays = llvm::cast<llvm::ICmpInst>(goes_to(end, again));
  branch_together(end, stays, again, leaving)
      ->setMetadata(llvm::LLVMContext::MD_prof, llvm::MDBuilder(context).createBranchWeights(rounds, 1));
  llvm::IRBuilder<> builder(llvm::BranchInst::Create(parting, leaving));
  llvm::Value* leaves = builder.CreateICmp(stays->getInversePredicate(), stays->getOperand(0), stays->getOperand(1));
  branch_together(leaving, leaves, loop.after, parting);
  builder.SetInsertPoint(parting);
  builder.CreateCondBr(builder.CreateICmp(stays->getPredicate(), stays->getOperand(0), stays->getOperand(1)),
                       loop.header, loop.exit, llvm::MDBuilder(context).createUnlikelyBranchWeights());
  for (llvm::PHINode& phi : loop.header->phis()) {
    if (!loop.guard) phi.removeIncomingValue(loop.preheader, /*DeletePHIIfEmpty=*/false);
    phi.addIncoming(copy_of(phi.getIncomingValueForBlock(loop.latch)), parting);
  }
  if (loop.after != loop.exit)
    for (llvm::PHINode& phi : loop.after->phis()) {
      llvm::Value* value = phi.getIncomingValueForBlock(loop.exit);
      if (auto* left = llvm::dyn_cast<llvm::PHINode>(value); left && left->getParent() == loop.exit)
        value = left->getIncomingValueForBlock(loop.end);
      phi.addIncoming(copy_of(value), leaving);
    }
  for (llvm::PHINode& phi : loop.exit->phis()) {
    llvm::Value* value = copy_of(phi.getIncomingValueForBlock(loop.end));
    phi.addIncoming(value, parting);
    if (loop.after == loop.exit) phi.addIncoming(value, leaving);
  }

  if (!loop.guard) {
    branch_of(loop.preheader)->replaceSuccessorWith(loop.header, copy_of(loop.header));
    return;
  }
  for (llvm::Instruction& before : *loop.preheader)
    if (!before.getType()->isVoidTy()) join(before, copy_of(&before), loop, parting);
  llvm::Value* enters = goes_to(loop.guard, loop.preheader);
  llvm::BasicBlock* apart = split_off_end(loop.guard);
  branch_together(loop.guard, enters, copy_of(loop.preheader), apart);
}

}  // namespace

bool split_loops(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  llvm::SmallVector<Candidate> found;
  llvm::SmallVector<const llvm::Loop*> left(loops.begin(), loops.end());
  while (!left.empty()) {
    const llvm::Loop* loop = left.pop_back_val();
    if (auto one = candidate(*loop, loops, shapes))
      found.push_back(std::move(*one));
    else
      left.append(loop->begin(), loop->end());
  }
  for (const Candidate& loop : found) split(function, loop);
  return !found.empty();
}

}  // namespace metalloid::cpu::vector
