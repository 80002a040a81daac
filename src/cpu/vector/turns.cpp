// Groups of a threadgroup run one after another on one host thread. A loop whose state comes from memory that others
// write (an atomic or volatile read in it) may wait for a group that has not run yet, so it gives way at its back edge.
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "cpu/lower/thread_values.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/passes.hpp"

namespace metalloid::cpu::vector {

namespace {

// A value that nobody looks at (that of a counting atomic, say) keeps nobody waiting.
bool reads_what_others_write(const llvm::Instruction& instruction) {
  return !llvm::isa<llvm::CallBase>(instruction) && instruction.mayReadFromMemory() && !instruction.use_empty() &&
         (instruction.isAtomic() || instruction.isVolatile());
}

}  // namespace

llvm::PreservedAnalyses InsertTurns::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  if (function.getName() != lower::entry_name) return llvm::PreservedAnalyses::all();
  const auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::SmallSetVector<llvm::Loop*, 4> waiting;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (reads_what_others_write(instruction))
      if (llvm::Loop* loop = loops.getLoopFor(instruction.getParent())) waiting.insert(loop);
  if (waiting.empty()) return llvm::PreservedAnalyses::all();

  llvm::IRBuilder<> builder(function.getContext());
  llvm::FunctionCallee turn =
      function.getParent()->getOrInsertFunction(turn_function, builder.getVoidTy(), builder.getPtrTy());
  llvm::cast<llvm::Function>(turn.getCallee())->setDoesNotThrow();
  for (const llvm::Loop* loop : waiting) {
    llvm::SmallVector<llvm::BasicBlock*> latches;
    loop->getLoopLatches(latches);
    for (llvm::BasicBlock* latch : latches) {
      builder.SetInsertPoint(latch->getTerminator());
      builder.CreateCall(turn, {function.getArg(0)});
    }
  }
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace metalloid::cpu::vector
