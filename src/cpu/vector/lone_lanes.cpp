#include "cpu/vector/lone_lanes.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>

#include <optional>
#include <set>
#include <vector>

#include "cpu/vector/early_extensions.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr llvm::StringLiteral prefix = "metalloid.lone_lane";

using Blocks = llvm::SmallSetVector<llvm::BasicBlock*, 8>;
using Arrays = llvm::SmallSetVector<llvm::AllocaInst*, 4>;

// What is reached from one side of a branch only.
struct Side {
  llvm::BranchInst* branch;
  unsigned number;
  Blocks blocks;
  Arrays arrays;  // that nothing else uses
};

// Whether no two lanes have the same value.
bool differs_everywhere(const Shape& shape) {
  if (!shape.is_known() || !shape.guards.empty() || shape.factor) return false;
  return std::set<int64_t>(shape.offsets.begin(), shape.offsets.end()).size() == shape.offsets.size();
}

// The comparison that lets one lane pass, if the condition or, negated, its opposite has such.
const llvm::ICmpInst* find_equality(const llvm::Value* condition, bool is_negated) {
  using namespace llvm::PatternMatch;
  const llvm::Value *a = nullptr, *b = nullptr;
  if (is_negated ? match(condition, m_LogicalOr(m_Value(a), m_Value(b)))
                 : match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))) {
    const llvm::ICmpInst* first = find_equality(a, is_negated);
    return first ? first : find_equality(b, is_negated);
  }
  const auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  const auto wanted = is_negated ? llvm::CmpInst::ICMP_NE : llvm::CmpInst::ICMP_EQ;
  return comparison && comparison->getPredicate() == wanted ? comparison : nullptr;
}

bool lets_one_lane_pass(const Side& side, const ShapeAnalysis& shapes) {
  const llvm::ICmpInst* equality = find_equality(side.branch->getCondition(), side.number == 1);
  const llvm::Value *a = equality->getOperand(0), *b = equality->getOperand(1);
  return (shapes.is_uniform(b) && differs_everywhere(shapes.shape(a))) ||
         (shapes.is_uniform(a) && differs_everywhere(shapes.shape(b)));
}

bool is_lane_call(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  return call && call->getCalledFunction() && call->getCalledFunction()->getName() == lane_function;
}

// Not if it calls something, which may be for all lanes, or might wait for others in a loop.
bool can_be_moved(const llvm::Instruction& instruction, const llvm::LoopInfo& loops) {
  if (instruction.getType()->isTokenTy()) return false;
  if (llvm::isa<llvm::CallBase>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction))
    return is_lane_call(instruction);
  const bool reads_what_others_write =
      instruction.mayReadFromMemory() && (instruction.isAtomic() || instruction.isVolatile());
  return !reads_what_others_write || instruction.use_empty() || !loops.getLoopFor(instruction.getParent());
}

// Lane form is about to have integers instead, and LLVM would make calls of its arithmetic.
bool has_bfloat(llvm::Type* type) {
  if (type->isAggregateType()) return llvm::any_of(type->subtypes(), has_bfloat);
  return type->getScalarType()->isBFloatTy();
}

// Nothing: they use an array that others use as well.
std::optional<Arrays> own_arrays(const Blocks& blocks) {
  Arrays arrays;
  for (llvm::BasicBlock* block : blocks)
    for (llvm::Instruction& instruction : *block)
      for (llvm::Value* operand : instruction.operands()) {
        auto* pointer = llvm::dyn_cast<llvm::Instruction>(operand);
        if (!pointer || !pointer->getType()->isPointerTy() || blocks.contains(pointer->getParent())) continue;
        auto* array = llvm::dyn_cast<llvm::AllocaInst>(pointer->stripInBoundsOffsets());
        if (!array) continue;
        const auto is_inside = [&](const llvm::User* user) {
          const auto* use = llvm::cast<llvm::Instruction>(user);
          return use->isLifetimeStartOrEnd() || blocks.contains(const_cast<llvm::BasicBlock*>(use->getParent()));
        };
        if (pointer != array || !llvm::all_of(array->users(), is_inside)) return std::nullopt;
        arrays.insert(array);
      }
  return arrays;
}

// Whether nothing that is computed in the blocks is used behind them, and they are left for one place.
bool gives_no_values(const Blocks& blocks) {
  const llvm::BasicBlock* end = nullptr;
  bool returns = false;
  for (llvm::BasicBlock* block : blocks) {
    returns |= llvm::succ_empty(block);
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (blocks.contains(next)) continue;
      if (end && end != next) return false;
      end = next;
      for (const llvm::PHINode& phi : next->phis()) {
        const llvm::Value* value = phi.getIncomingValueForBlock(block);
        for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
          if (blocks.contains(phi.getIncomingBlock(i)) && phi.getIncomingValue(i) != value) return false;
      }
    }
    for (const llvm::Instruction& instruction : *block)
      for (const llvm::User* user : instruction.users())
        if (!blocks.contains(const_cast<llvm::BasicBlock*>(llvm::cast<llvm::Instruction>(user)->getParent())))
          return false;
  }
  return !returns || !end;
}

bool can_be_moved(const Blocks& blocks, const llvm::LoopInfo& loops) {
  for (const llvm::BasicBlock* block : blocks)
    for (const llvm::Instruction& instruction : *block) {
      if (!can_be_moved(instruction, loops)) return false;
      for (const llvm::Value* operand : instruction.operands())
        if (has_bfloat(operand->getType())) return false;
    }
  return gives_no_values(blocks);
}

// Those with loops that can be moved, and an equality that may be the lane's.
std::vector<Side> find_sides(llvm::Function& lane_form, const llvm::DominatorTree& dominators,
                             const llvm::LoopInfo& loops) {
  std::vector<Side> sides;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&lane_form)) {
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || !branch->isConditional()) continue;
    for (const unsigned number : {0u, 1u}) {
      llvm::BasicBlock* start = branch->getSuccessor(number);
      if (!find_equality(branch->getCondition(), number == 1) || !start->getSinglePredecessor()) continue;
      llvm::SmallVector<llvm::BasicBlock*> dominated;
      dominators.getDescendants(start, dominated);
      const Blocks blocks(dominated.begin(), dominated.end());
      const bool has_loops = llvm::any_of(blocks, [&](const auto* part) { return loops.isLoopHeader(part); });
      if (!has_loops || !can_be_moved(blocks, loops)) continue;
      if (auto arrays = own_arrays(blocks)) sides.push_back({branch, number, blocks, *arrays});
    }
  }
  return sides;
}

bool move_out(const Side& side) {
  llvm::Function& lane_form = *side.branch->getFunction();
  llvm::CodeExtractor extractor(side.blocks.getArrayRef(), nullptr, /*AggregateArgs=*/false, nullptr, nullptr, nullptr,
                                /*AllowVarArgs=*/false, /*AllowAlloca=*/true);
  if (!extractor.isEligible()) return false;
  for (llvm::BasicBlock* block : side.blocks)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block))
      if (is_lane_call(instruction)) instruction.moveBefore(side.branch->getIterator());
  for (llvm::AllocaInst* array : side.arrays) {
    for (llvm::User* user : llvm::make_early_inc_range(array->users()))
      if (auto* marker = llvm::cast<llvm::Instruction>(user); marker->isLifetimeStartOrEnd()) marker->eraseFromParent();
    array->moveBefore(side.blocks.front()->getFirstInsertionPt());
  }
  const llvm::DebugLoc place = side.branch->getDebugLoc();
  llvm::Function* function = extractor.extractCodeRegion(llvm::CodeExtractorAnalysisCache(lane_form));
  llvm::cast<llvm::CallInst>(function->user_back())->setDebugLoc(place);
  function->setName(prefix);
  function->setLinkage(llvm::GlobalValue::InternalLinkage);
  function->removeFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoInline);
  for (llvm::AllocaInst* array : side.arrays) array->moveBefore(function->getEntryBlock().getFirstInsertionPt());
  return true;
}

}  // namespace

bool is_lone_lane(const llvm::Function& function) {
  return function.getName().starts_with(prefix);
}

bool move_lone_lanes(llvm::Function& lane_form, unsigned width) {
  const auto move_first = [&] {
    const llvm::DominatorTree dominators(lane_form);
    const llvm::LoopInfo loops(dominators);
    const std::vector<Side> sides = find_sides(lane_form, dominators, loops);
    if (sides.empty()) return false;
    add_what_is_disjoint(lane_form);
    const llvm::PostDominatorTree post_dominators(lane_form);
    const ShapeAnalysis shapes(lane_form, loops, post_dominators, width);
    return llvm::any_of(sides, [&](const Side& side) { return lets_one_lane_pass(side, shapes) && move_out(side); });
  };
  bool has_moved = false;
  while (move_first()) has_moved = true;
  return has_moved;
}

}  // namespace metalloid::cpu::vector
