// How often the blocks of a function in lane form run, by LLVM's guesses at branches and loops: when a thread runs
// alone, and when a group runs together. A group runs both sides of a branch that its lanes disagree on, and a loop for
// as long as the lane that needs it longest.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/IR/Function.h>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

class Frequencies {
 public:
  Frequencies(const llvm::Function& function, const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators,
              llvm::ScalarEvolution& evolution, const ShapeAnalysis& shapes);

  // Times in one run of the kernel.
  double alone(const llvm::BasicBlock* block) const { return alone_.lookup(block); }
  double together(const llvm::BasicBlock* block, unsigned width) const;

  // Iterations of a loop each time it is entered.
  double trips(const llvm::Loop* loop) const { return trips_.lookup(loop); }

 private:
  void find_trips(const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution);
  void spread_over_masked_blocks(const llvm::Function& function, const llvm::LoopInfo& loops,
                                 const llvm::DominatorTree& dominators, const ShapeAnalysis& shapes);

  llvm::DenseMap<const llvm::BasicBlock*, double> alone_, together_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> divergent_depth_;  // loops around that lanes leave apart
  llvm::DenseMap<const llvm::Loop*, double> trips_;
};

}  // namespace metalloid::cpu::vector
