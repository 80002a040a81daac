#include "cpu/vector/flatten_branches.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "cpu/vector/neighbours.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr size_t longest_way = 128, longest_way_for_nothing = 6;  // in instructions
constexpr size_t most_stores = 500;                               // that are compared with each other
// LLVM guesses three of eight where it knows nothing better, of 32 lanes nearly always one.
const llvm::BranchProbability rare(1, 4);

// Blocks with stores of a lane that lie side by side, but are in several blocks of one loop.
llvm::SmallPtrSet<const llvm::BasicBlock*, 8> find_stores_apart(const llvm::Function& function,
                                                                const llvm::LoopInfo& loops) {
  const llvm::DataLayout& layout = function.getDataLayout();
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, Place>> stores;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple())
      stores.emplace_back(store->getParent(), place_of(*store, /*by_index=*/true, layout));
  llvm::SmallPtrSet<const llvm::BasicBlock*, 8> apart;
  if (stores.size() > most_stores) return apart;
  for (const auto& [block, place] : stores)
    for (const auto& [other, other_place] : stores)
      if (block != other && place.is_counted_like(other_place) &&
          std::abs(place.distance_from(other_place)) < furthest_neighbour &&
          loops.getLoopFor(block) == loops.getLoopFor(other))
        apart.insert(block);
  return apart;
}

// How long the first and the second way of a branch may be.
struct Limits {
  size_t first, second;
};
using Branches = llvm::DenseMap<const llvm::Instruction*, Limits>;

Branches find_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  const auto stores_apart = find_stores_apart(function, loops);
  const llvm::PostDominatorTree post_dominators(function);
  const llvm::BranchProbabilityInfo probabilities(function, loops);
  Branches branches;
  for (const llvm::BasicBlock& block : function) {
    if (!shapes.is_divergent_branch(&block) || shapes.is_limit(&block)) continue;
    const bool joins_stores = llvm::any_of(stores_apart, [&](const llvm::BasicBlock* behind) {
      return loops.getLoopFor(behind) == loops.getLoopFor(&block) && post_dominators.dominates(behind, &block);
    });
    const auto limit = [&](unsigned way) {
      return joins_stores && probabilities.getEdgeProbability(&block, way) >= rare ? longest_way
                                                                                   : longest_way_for_nothing;
    };
    branches[block.getTerminator()] = {limit(0), limit(1)};
  }
  return branches;
}

bool harms_nobody(const llvm::Instruction& instruction) {
  if (instruction.mayReadOrWriteMemory() || !llvm::isSafeToSpeculativelyExecute(&instruction)) return false;
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return !call || (llvm::isa<llvm::IntrinsicInst>(call) && !call->isConvergent());
}

// Whether all lanes may take a way of the block that ends in `end`.
bool may_be_taken_by_all(const llvm::BasicBlock* way, const llvm::BasicBlock* block, const llvm::BasicBlock* end,
                         size_t longest) {
  if (way == end) return true;
  if (way->getSinglePredecessor() != block || way->getSingleSuccessor() != end || way->hasAddressTaken()) return false;
  const llvm::Instruction* last = way->getTerminator();
  return way->size() - 1 <= longest && llvm::all_of(*way, [&](const llvm::Instruction& instruction) {
           return &instruction == last || (!llvm::isa<llvm::PHINode>(instruction) && harms_nobody(instruction));
         });
}

void move_before(llvm::Instruction* place, llvm::BasicBlock* way) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(*way)) {
    if (instruction.isTerminator()) return;
    instruction.dropUBImplyingAttrsAndMetadata();
    instruction.moveBefore(place->getIterator());
  }
}

// A block in whose ways all lanes may go takes them in, and what follows if nobody else comes there.
bool flatten(llvm::BasicBlock* block, const Branches& branches) {
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  const auto found = branches.find(block->getTerminator());
  if (!branch || found == branches.end()) return false;
  llvm::BasicBlock *first = branch->getSuccessor(0), *second = branch->getSuccessor(1);
  llvm::BasicBlock* end = second->getSinglePredecessor() == block ? second->getSingleSuccessor() : second;
  if (first != end && first->getSinglePredecessor() != block) end = first;
  if (!end || end == block || first == second || !may_be_taken_by_all(first, block, end, found->second.first) ||
      !may_be_taken_by_all(second, block, end, found->second.second))
    return false;

  llvm::BasicBlock *from_first = first == end ? block : first, *from_second = second == end ? block : second;
  for (llvm::BasicBlock* way : {first, second})
    if (way != end) move_before(branch, way);
  llvm::IRBuilder<> builder(branch);
  for (llvm::PHINode& phi : end->phis()) {
    llvm::Value *one = phi.getIncomingValueForBlock(from_first), *other = phi.getIncomingValueForBlock(from_second);
    llvm::Value* selected = one == other ? one : builder.CreateSelect(branch->getCondition(), one, other);
    for (const llvm::BasicBlock* from : {from_first, from_second})
      if (from != block) phi.removeIncomingValue(from, /*DeletePHIIfEmpty=*/false);
    if (const int index = phi.getBasicBlockIndex(block); index >= 0)
      phi.setIncomingValue(static_cast<unsigned>(index), selected);
    else
      phi.addIncoming(selected, block);
  }
  builder.CreateBr(end);
  branch->eraseFromParent();
  for (llvm::BasicBlock* way : {first, second})
    if (way != end) way->eraseFromParent();
  llvm::MergeBlockIntoPredecessor(end);
  return true;
}

}  // namespace

bool flatten_branches(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  const Branches branches = find_branches(function, loops, shapes);
  bool any = false;
  if (branches.empty()) return any;
  // From the end, so that ways within ways come first; what a block took in may let those before it follow.
  for (bool again = true; again;) {
    again = false;
    llvm::SmallVector<llvm::WeakVH> blocks;  // null once they are gone
    for (llvm::BasicBlock& block : function) blocks.emplace_back(&block);
    for (llvm::WeakVH& block : llvm::reverse(blocks))
      while (block && flatten(llvm::cast<llvm::BasicBlock>(block), branches)) any = again = true;
  }
  return any;
}

}  // namespace metalloid::cpu::vector
