#include "cpu/vector/unrolling.hpp"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned most_iterations = 64;
constexpr size_t most_instructions = 1200;  // of all iterations

size_t size_of(const llvm::Loop& loop) {
  size_t size = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) size += block->size();
  return size;
}

}  // namespace

llvm::PreservedAnalyses RequestUnrolling::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (!loop->isInnermost() || llvm::findOptionMDForLoop(loop, "llvm.loop.unroll.disable") ||
        llvm::findOptionMDForLoop(loop, "llvm.loop.unroll.count"))
      continue;
    const unsigned iterations = evolution.getSmallConstantTripCount(loop);
    if (iterations > 0 && iterations <= most_iterations && iterations * size_of(*loop) <= most_instructions)
      llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full");
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace metalloid::cpu::vector
