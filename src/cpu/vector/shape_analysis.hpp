// Which values of a function in lane form have a shape, which branches lanes disagree on, and which blocks therefore
// run with some lanes switched off.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IntrinsicInst.h>

#include "cpu/vector/shape.hpp"

namespace metalloid::cpu::vector {

class ShapeAnalysis {
 public:
  ShapeAnalysis(llvm::Function& function, const llvm::LoopInfo& loops, const llvm::PostDominatorTree& post_dominators,
                unsigned width);

  Shape shape(const llvm::Value* value) const;
  bool is_known(const llvm::Value* value) const { return shape(value).is_known(); }
  bool is_uniform(const llvm::Value* value) const { return shape(value).is_uniform(); }
  bool are_uniform(llvm::iterator_range<llvm::User::const_op_iterator> values) const {
    return llvm::all_of(values, [&](const llvm::Value* value) { return is_uniform(value); });
  }

  // Whether lanes that the group has may be off in a block.
  bool is_masked(const llvm::BasicBlock* block) const { return masked_.contains(block); }
  bool is_divergent_branch(const llvm::BasicBlock* block) const { return divergent_branches_.contains(block); }
  bool is_divergent_loop(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }

  // Whether the branch of a block compares what counts in step with a limit, as `i < n` does: in most groups all lanes
  // are on one side of it.
  bool is_limit(const llvm::BasicBlock* block) const;

  // Lanes leave the block by different edges, at once or, leaving a loop that lanes leave at different times, in time.
  bool has_divergent_exit(const llvm::BasicBlock* block) const;

  // If lanes that disagree on the branch of this block all go on, nothing after it is masked because of it.
  void assume_agreement(const llvm::BasicBlock* block);

  // Values have changed, control flow has not.
  void analyse_again();

 private:
  void analyse();
  void find_shapes();
  bool find_divergence();
  void find_region(const llvm::BasicBlock* branch);
  void find_divergent_loops();

  Shape transfer(const llvm::Instruction& instruction) const;
  Shape phi_shape(const llvm::PHINode& phi) const;
  Shape call_shape(const llvm::CallInst& call) const;
  Shape uniform_result(const llvm::Instruction& instruction) const;
  Shape limit_shape(const llvm::MinMaxIntrinsic& limit) const;
  Shape arithmetic_shape(const llvm::Instruction& instruction) const;
  bool may_be_negative(const llvm::Value& value) const;
  Shape division_shape(const llvm::Instruction& division) const;
  Shape comparison_shape(const llvm::ICmpInst& comparison) const;
  Shape cast_shape(const llvm::CastInst& cast) const;
  Shape address_shape(const llvm::GetElementPtrInst& address) const;

  const llvm::LoopInfo& loops_;
  const llvm::PostDominatorTree& post_dominators_;
  const llvm::DataLayout& layout_;
  unsigned width_;
  std::vector<llvm::BasicBlock*> order_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::SmallPtrSet<const llvm::PHINode*, 16> joins_;  // phis where lanes come from different blocks
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> masked_, divergent_branches_, agreed_;
  llvm::SmallPtrSet<const llvm::Loop*, 8> divergent_loops_;
};

}  // namespace metalloid::cpu::vector
