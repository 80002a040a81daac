#include "nvidia/lower/reconvergence.hpp"

#include <llvm/ADT/EquivalenceClasses.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/Utils/FixIrreducible.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <memory>

#include "bitcode/analyses.hpp"
#include "bitcode/block_order.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::BasicBlock;
using llvm::Value;

struct Stop {
  enum class Kind { before_block, before_loop, end_of_loop };

  Kind kind;
  const llvm::Loop* around;  // whose iterations tell its lanes apart: null if that is none
  const llvm::Loop* loop;    // that it stands before or at the end of
  BasicBlock* target;        // the block, the loop's header
  unsigned position;
  BasicBlock* code = nullptr;
  llvm::SmallSetVector<BasicBlock*, 4> wanted = {};  // where lanes that come by are going
};

class Reconvergence {
 public:
  Reconvergence(llvm::Function& function, const Together& together, llvm::ArrayRef<BasicBlock*> blocks)
      : function_(function),
        together_(together),
        dominators_(function),
        loops_(dominators_),
        blocks_(blocks),
        builder_(function.getContext()) {}

  LanesOfBlocks run() {
    for (BasicBlock* block : bitcode::block_order(function_, loops_))
      positions_[block] = static_cast<unsigned>(positions_.size());
    find_regions();
    make_stops();
    find_ways();
    make_slots();
    for (const auto& [from, to, stop] : ways_) lead(from, to, stop);
    for (const auto& stop : stops_) write(*stop);
    for (const BasicBlock* block : blocks_)
      if (const llvm::Loop* loop = loop_around(block); loop && loop->getHeader() == block) take_mask_of(*loop);
    make_values_reach_their_uses();
    return std::move(masks_);
  }

 private:
  struct Way {
    BasicBlock *from, *to;
    Stop* stop;
  };

  bool is_apart(const BasicBlock* block) const { return !together_.holds(block); }

  // A region is what lanes go through from where they part to where all are together again: blocks that are apart and
  // follow each other, or follow the same branch.
  void find_regions() {
    for (BasicBlock& block : function_) {
      const bool divides = together_.divides(&block);
      if (!is_apart(&block) && !divides) continue;
      const BasicBlock* first = is_apart(&block) ? &block : nullptr;
      if (first) regions_.insert(first);
      for (const BasicBlock* next : llvm::successors(&block)) {
        if (!together_.goes_on(next)) lanes_leave_ |= is_apart(&block);
        if (!together_.goes_on(next) || !is_apart(next)) continue;
        if (!first) first = next;
        regions_.unionSets(first, next);
      }
      if (divides) region_of_branch_[&block] = first;
      lanes_leave_ |= is_apart(&block) && llvm::succ_empty(&block);
    }
  }

  const BasicBlock* region_of(const BasicBlock* block) const {
    const auto branch = region_of_branch_.find(block);
    return regions_.getLeaderValue(branch == region_of_branch_.end() ? block : branch->second);
  }

  void make_stops() {
    llvm::SmallSetVector<const llvm::Loop*, 8> loops;
    for (const BasicBlock* block : blocks_)
      for (const llvm::Loop* loop = loops_.getLoopFor(block); loop && is_apart(loop->getHeader());
           loop = loop->getParentLoop())
        loops.insert(loop);
    loops_with_stops_.insert(loops.begin(), loops.end());
    for (const llvm::Loop* loop : loops) {
      const llvm::Loop* around = loop_with_stops(loop->getParentLoop());
      add({Stop::Kind::before_loop, around, loop, loop->getHeader(), position(loop->getHeader())});
      add({Stop::Kind::end_of_loop, around, loop, loop->getHeader(), last_position(*loop)});
    }
    for (BasicBlock* block : blocks_)
      if (const llvm::Loop* around = loop_around(block); !around || around->getHeader() != block)
        add({Stop::Kind::before_block, around, nullptr, block, position(block)});
    llvm::sort(stops_, [](const auto& a, const auto& b) { return a->position < b->position; });
  }

  void add(Stop stop) {
    stops_.push_back(std::make_unique<Stop>(std::move(stop)));
    Stop* const added = stops_.back().get();
    (added->kind == Stop::Kind::end_of_loop ? ends_[added->loop] : starts_[added->target]) = added;
  }

  const llvm::Loop* loop_with_stops(const llvm::Loop* loop) const {
    while (loop && !loops_with_stops_.contains(loop)) loop = loop->getParentLoop();
    return loop;
  }
  const llvm::Loop* loop_around(const BasicBlock* block) const { return loop_with_stops(loops_.getLoopFor(block)); }

  unsigned position(const BasicBlock* block) const { return positions_.lookup(block); }
  unsigned last_position(const llvm::Loop& loop) const { return position(loop.getHeader()) + loop.getNumBlocks() - 1; }

  // All edges on which lanes make a stop, and what every stop has to tell apart.
  void find_ways() {
    for (BasicBlock& block : function_) {
      llvm::SmallSetVector<BasicBlock*, 4> successors(llvm::succ_begin(&block), llvm::succ_end(&block));
      for (BasicBlock* next : successors)
        if (Stop* const stop = first_stop(&block, next)) {
          ways_.push_back({&block, next, stop});
          send(*stop, next);
        }
    }
  }

  Stop* first_stop(BasicBlock* from, BasicBlock* to) const {
    if (!together_.goes_on(to)) return nullptr;
    if (!is_apart(from) && !together_.divides(from)) return starts_.lookup(to);
    return next_stop(loop_around(from), position(from), region_of(from), to);
  }

  // The first stop on the way from a place in an iteration of `around`, null if there is none.
  Stop* next_stop(const llvm::Loop* around, unsigned after, const BasicBlock* region, BasicBlock* to) const {
    const bool ends_iteration = around && (!around->contains(to) || around->getHeader() == to);
    const bool goes_back = position(to) <= after;
    const unsigned end = ends_iteration ? ~0u : goes_back ? last_position(*loops_.getLoopFor(to)) + 1 : position(to);
    for (const auto& stop : stops_)
      if (stop->kind != Stop::Kind::end_of_loop && stop->around == around && stop->position > after &&
          (stop->position < end || stop->target == to) && region_of(stop->target) == region)
        return stop.get();
    return ends_iteration ? ends_.lookup(around) : nullptr;
  }

  Stop* next_stop(const Stop& stop, BasicBlock* to) const {
    const unsigned after = stop.kind == Stop::Kind::end_of_loop ? last_position(*stop.loop) : stop.position;
    return next_stop(stop.around, after, region_of(stop.target), to);
  }

  void send(Stop& stop, BasicBlock* to) {
    if (!stop.wanted.insert(to) || to == stop.target) return;
    if (Stop* const next = next_stop(stop, to)) send(*next, to);
  }

  // Slots become registers at the end. Where an edge is led elsewhere, so is what its phis would take from it.
  void make_slots() {
    builder_.SetInsertPoint(&function_.getEntryBlock(), function_.getEntryBlock().begin());
    next_ = make_slot("next");
    for (const auto& [loop, end] : ends_) masks_of_loops_[loop] = make_slot("lanes");
    for (const auto& stop : stops_) stop->code = BasicBlock::Create(builder_.getContext(), "stop", &function_);
    llvm::SmallSetVector<BasicBlock*, 8> targets;
    for (const Way& way : ways_) targets.insert(way.to);
    for (BasicBlock* target : targets)
      for (llvm::PHINode& phi : llvm::make_early_inc_range(target->phis()))
        if (llvm::AllocaInst* slot = llvm::DemotePHIToStack(&phi)) slots_.push_back(slot);
  }

  llvm::AllocaInst* make_slot(const char* name) {
    slots_.push_back(builder_.CreateAlloca(builder_.getInt32Ty(), nullptr, name));
    return slots_.back();
  }

  llvm::ConstantInt* number(const BasicBlock* block) { return builder_.getInt32(position(block)); }

  void lead(BasicBlock* from, BasicBlock* to, const Stop* stop) {
    auto* const edge = BasicBlock::Create(builder_.getContext(), "", &function_, stop->code);
    builder_.SetInsertPoint(edge);
    builder_.CreateStore(number(to), next_);
    builder_.CreateBr(stop->code);
    from->getTerminator()->replaceSuccessorWith(to, edge);
  }

  void write(const Stop& stop) {
    builder_.SetInsertPoint(stop.code);
    Value* const next = builder_.CreateLoad(builder_.getInt32Ty(), next_);
    const llvm::Loop* const lanes_of = stop.kind == Stop::Kind::end_of_loop ? stop.loop : stop.around;
    Value* const lanes =
        lanes_of ? static_cast<Value*>(builder_.CreateLoad(builder_.getInt32Ty(), masks_of_loops_[lanes_of]))
                 : builder_.getInt32(~0u);
    const bool all_go_there = stop.wanted.size() == 1 && stop.wanted.front() == stop.target;
    Value* const goes_there =
        all_go_there ? static_cast<Value*>(builder_.getTrue()) : builder_.CreateICmpEQ(next, number(stop.target));
    Value* const mask = all_go_there && lanes_of && !lanes_leave_
                            ? lanes
                            : builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_vote_ballot_sync, {}, {lanes, goes_there});
    if (stop.kind == Stop::Kind::before_block)
      masks_[stop.target] = mask;
    else
      builder_.CreateStore(mask, masks_of_loops_[stop.loop]);
    go_on(stop, next);
  }

  void go_on(const Stop& stop, Value* next) {
    llvm::SmallVector<BasicBlock*> at_once;
    BasicBlock* others = nullptr;
    for (BasicBlock* to : stop.wanted) {
      const Stop* const later = to == stop.target ? nullptr : next_stop(stop, to);
      if (later)
        others = later->code;
      else
        at_once.push_back(to);
    }
    if (!others && at_once.empty()) {
      builder_.CreateUnreachable();
      return;
    }
    if (!others) others = at_once.pop_back_val();
    llvm::SwitchInst* const by_place = builder_.CreateSwitch(next, others);
    for (BasicBlock* to : at_once) by_place->addCase(number(to), to);
  }

  // In a loop's first block are the lanes of its iteration.
  void take_mask_of(const llvm::Loop& loop) {
    BasicBlock* const header = loop.getHeader();
    builder_.SetInsertPoint(header, header->getFirstInsertionPt());
    masks_[header] = builder_.CreateLoad(builder_.getInt32Ty(), masks_of_loops_[&loop]);
  }

  // Paths that no lane takes lead past definitions now.
  void make_values_reach_their_uses() {
    llvm::removeUnreachableBlocks(function_);
    dominators_.recalculate(function_);
    llvm::SmallVector<llvm::Instruction*> lost;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (llvm::any_of(instruction.uses(),
                       [&](const llvm::Use& use) { return !dominators_.dominates(&instruction, use); }))
        lost.push_back(&instruction);
    for (llvm::Instruction* instruction : lost)
      slots_.push_back(
          llvm::DemoteRegToStack(*instruction, /*VolatileLoads=*/false, function_.getEntryBlock().getFirstNonPHIIt()));
    llvm::PromoteMemToReg(slots_, dominators_);
  }

  llvm::Function& function_;
  const Together& together_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::ArrayRef<BasicBlock*> blocks_;
  llvm::IRBuilder<> builder_;

  llvm::DenseMap<const BasicBlock*, unsigned> positions_;
  llvm::EquivalenceClasses<const BasicBlock*> regions_;
  llvm::DenseMap<const BasicBlock*, const BasicBlock*> region_of_branch_;
  bool lanes_leave_ = false;  // and end, from where they are apart
  llvm::SmallPtrSet<const llvm::Loop*, 8> loops_with_stops_;
  llvm::SmallVector<std::unique_ptr<Stop>> stops_;  // by position
  llvm::DenseMap<const BasicBlock*, Stop*> starts_;
  llvm::MapVector<const llvm::Loop*, Stop*> ends_;
  llvm::SmallVector<Way> ways_;
  llvm::SmallVector<llvm::AllocaInst*> slots_;
  llvm::AllocaInst* next_ = nullptr;
  llvm::DenseMap<const llvm::Loop*, llvm::AllocaInst*> masks_of_loops_;
  LanesOfBlocks masks_;
};

}  // namespace

bool make_reducible(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  if (!llvm::containsIrreducibleCFG<BasicBlock*>(order, loops)) return false;
  llvm::PassBuilder builder;
  bitcode::Analyses analyses(builder);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::FixIrreduciblePass());
  passes.run(function, analyses.functions);
  return true;
}

LanesOfBlocks reconverge(llvm::Function& function, const Together& together, llvm::ArrayRef<BasicBlock*> blocks) {
  if (blocks.empty()) return LanesOfBlocks();
  return Reconvergence(function, together, blocks).run();
}

}  // namespace metalloid::nvidia::lower
