#include "cpu/vector/frequencies.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "cpu/vector/restarts.hpp"
#include "cpu/vector/waiting.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr double most_trips = 4096;  // one endless loop does not hide everything else

// How much longer the longest of so many lanes stays in a loop than one does: neighbours are not strangers.
double longest_of(unsigned width) {
  return 1 + 0.3 * std::log2(static_cast<double>(width));
}

// Whether it is left when an atomic exchange has succeeded, which it mostly does at once.
bool is_update(const llvm::Loop& loop) {
  const llvm::BasicBlock* exiting = loop.getExitingBlock();
  const auto* branch = exiting ? llvm::dyn_cast<llvm::BranchInst>(exiting->getTerminator()) : nullptr;
  const auto* part =
      branch && branch->isConditional() ? llvm::dyn_cast<llvm::ExtractValueInst>(branch->getCondition()) : nullptr;
  const auto* exchange = part ? llvm::dyn_cast<llvm::AtomicCmpXchgInst>(part->getAggregateOperand()) : nullptr;
  return exchange && loop.contains(exchange) && tries_again(*exchange, loop);
}

// Whether lanes stay in a loop as long as each likes. Where they count in step, as in `for (i = lane; i < n; i += 32)`,
// they leave at the same time or an iteration apart.
bool has_lanes_of_own(const llvm::Loop& loop, const ShapeAnalysis& shapes) {
  if (!shapes.is_divergent_loop(&loop) || is_update(loop)) return false;
  llvm::SmallVector<llvm::BasicBlock*> exits;
  loop.getExitingBlocks(exits);
  return llvm::any_of(exits, [&](const llvm::BasicBlock* block) {
    return shapes.is_divergent_branch(block) && !shapes.is_limit(block);
  });
}

// The side of a branch that is for threads beyond a limit, which is known at run time only.
std::optional<unsigned> side_beyond_limit(const llvm::BasicBlock& block, const ShapeAnalysis& shapes) {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block.getTerminator());
  if (!branch || !branch->isConditional()) return std::nullopt;
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition());
  if (!comparison || !comparison->isRelational()) return std::nullopt;
  const auto grows = [&](const llvm::Value* value) {
    const Shape shape = shapes.shape(value);
    return shape.is_known() && !shape.factor && shape.step(static_cast<unsigned>(shape.offsets.size()) - 1) > 0;
  };
  const bool first_grows = grows(comparison->getOperand(0));
  const llvm::Value *position = comparison->getOperand(first_grows ? 0 : 1),
                    *limit = comparison->getOperand(first_grows ? 1 : 0);
  if (!grows(position) || !shapes.is_uniform(limit) || llvm::isa<llvm::Constant>(limit)) return std::nullopt;
  const bool is_greater =
      llvm::ICmpInst::isGT(comparison->getPredicate()) || llvm::ICmpInst::isGE(comparison->getPredicate());
  return is_greater == first_grows ? 0 : 1;
}

// A kernel that begins with `if (i >= n) return;`, or does otherwise where its last threads have fewer numbers than
// others, does not mean most threads: LLVM would take it for every other one.
void expect_threads_to_stay(const llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes,
                            llvm::BranchProbabilityInfo& probabilities) {
  const llvm::BranchProbability few(1, 64);
  for (const llvm::BasicBlock& block : function) {
    std::optional<unsigned> rare = early_end(block);
    if (!rare && !loops.getLoopFor(&block)) rare = side_beyond_limit(block, shapes);
    if (!rare) continue;
    llvm::SmallVector<llvm::BranchProbability, 2> sides(2, few.getCompl());
    sides[*rare] = few;
    probabilities.setEdgeProbability(&block, sides);
  }
}

}  // namespace

Frequencies::Frequencies(const llvm::Function& function, const llvm::LoopInfo& loops,
                         const llvm::DominatorTree& dominators, llvm::ScalarEvolution& evolution,
                         const ShapeAnalysis& shapes) {
  llvm::BranchProbabilityInfo probabilities(function, loops);
  expect_threads_to_stay(function, loops, shapes, probabilities);
  const llvm::BlockFrequencyInfo frequencies(function, probabilities, loops);
  const auto entry = static_cast<double>(frequencies.getEntryFreq().getFrequency());
  for (const llvm::BasicBlock& block : function)
    alone_[&block] = static_cast<double>(frequencies.getBlockFreq(&block).getFrequency()) / entry;
  find_trips(loops, evolution);
  spread_over_masked_blocks(function, loops, dominators, shapes);
}

double Frequencies::together(const llvm::BasicBlock* block, unsigned width) const {
  return together_.lookup(block) * std::pow(longest_of(width), divergent_depth_.lookup(block));
}

// LLVM guesses the iterations of all loops alike; where they are known, blocks run that often.
void Frequencies::find_trips(const llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution) {
  llvm::DenseMap<const llvm::Loop*, double> scales;
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    double entered = 0;
    for (const llvm::BasicBlock* before : llvm::predecessors(loop->getHeader()))
      if (!loop->contains(before)) entered += alone_[before];
    const double guess = entered > 0 ? std::max(1.0, alone_[loop->getHeader()] / entered) : 1;
    const unsigned known = is_update(*loop) ? 1 : evolution.getSmallConstantTripCount(loop);
    trips_[loop] = std::min(known ? known : guess, most_trips);
    scales[loop] = trips_[loop] / guess * (loop->getParentLoop() ? scales[loop->getParentLoop()] : 1);
  }
  for (auto& [block, frequency] : alone_)
    if (const llvm::Loop* loop = loops.getLoopFor(block)) frequency *= scales[loop];
}

// Along the control flow: what comes into a block from a branch that lanes disagree on comes by both its edges.
void Frequencies::spread_over_masked_blocks(const llvm::Function& function, const llvm::LoopInfo& loops,
                                            const llvm::DominatorTree& dominators, const ShapeAnalysis& shapes) {
  llvm::DenseMap<const llvm::Loop*, double> entered;
  const auto outermost_left = [&](const llvm::BasicBlock* from, const llvm::BasicBlock* to) {
    const llvm::Loop* left = nullptr;
    for (const llvm::Loop* loop = loops.getLoopFor(from); loop && !loop->contains(to); loop = loop->getParentLoop())
      left = loop;
    return left;
  };
  const auto share = [&](const llvm::BasicBlock* from, const llvm::BasicBlock* to) {
    return from->getSingleSuccessor() || (shapes.has_divergent_exit(from) && !shapes.is_limit(from))
               ? 1.0
               : std::min(1.0, alone_[to] / std::max(alone_[from], 1e-9));
  };
  for (const llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<const llvm::Function*>(&function)) {
    const llvm::Loop* own = loops.getLoopFor(block);
    double sum = block->isEntryBlock() ? 1 : 0;
    for (const llvm::BasicBlock* before : llvm::predecessors(block)) {
      if (own && own->getHeader() == block && own->contains(before)) continue;
      const llvm::Loop* left = outermost_left(before, block);
      sum += left ? entered[left] : together_[before] * share(before, block);
    }
    if (const auto* node = dominators.getNode(block); node && node->getIDom()) {
      const llvm::BasicBlock* dominator = node->getIDom()->getBlock();
      const llvm::Loop* left = outermost_left(dominator, block);
      sum = std::min(sum, left ? entered[left] : together_[dominator]);
    }
    unsigned depth = 0;
    for (const llvm::Loop* loop = own; loop; loop = loop->getParentLoop()) depth += has_lanes_of_own(*loop, shapes);
    divergent_depth_[block] = depth;
    const bool is_header = own && own->getHeader() == block;
    if (is_header) entered[own] = sum;
    together_[block] = shapes.is_masked(block) ? sum * (is_header ? trips_[own] : 1) : alone_[block];
  }
}

}  // namespace metalloid::cpu::vector
