#include "nvidia/lower/group_functions_together.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/Analysis/CycleAnalysis.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/Analysis/TargetTransformInfoImpl.h>
#include <llvm/Analysis/UniformityAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PassInstrumentation.h>
#include <llvm/IR/PassManager.h>

#include <algorithm>

#include "nvidia/lower/lane_order.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::InstructionUniformity;
using Blocks = llvm::SmallPtrSet<const llvm::BasicBlock*, 16>;

// Whether what is at an address is the same for all threads that look: it is not in a thread's own memory. Pointers in
// memory that threads share point to such memory.
bool is_shared_memory(const llvm::Value* pointer, unsigned depth = 0) {
  if (pointer->getType()->getPointerAddressSpace() != 0) return true;
  const llvm::Value* object = llvm::getUnderlyingObject(pointer, 0);
  if (object->getType()->isPointerTy() && object->getType()->getPointerAddressSpace() != 0) return true;
  if (llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::IntToPtrInst>(object)) return true;
  if (depth == 6) return false;
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(object))
    return is_shared_memory(load->getPointerOperand(), depth + 1);
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(object))
    return is_shared_memory(select->getTrueValue(), depth + 1) && is_shared_memory(select->getFalseValue(), depth + 1);
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(object))
    return llvm::all_of(phi->incoming_values(),
                        [&](const llvm::Value* value) { return value == phi || is_shared_memory(value, depth + 1); });
  return false;
}

// The bodies of group functions have their names, with something added.
bool is_same_in_all_lanes(llvm::StringRef name) {
  if (name == same_in_simdgroup_symbol) return true;
  if (!name.consume_front("metal.simd_")) return false;
  return llvm::StringSwitch<bool>(name.split('.').first)
      .Cases({"sum", "product", "min", "max", "and", "or", "xor"}, true)
      .Cases({"broadcast_first", "broadcast", "ballot", "all", "any", "active_threads_mask"}, true)
      .Default(false);
}

InstructionUniformity uniformity_of_call(const llvm::CallBase& call) {
  if (const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    llvm::StringRef name = intrinsic->getCalledFunction()->getName();
    if (name.consume_front("llvm.nvvm.read.ptx.sreg."))
      return name.starts_with("ctaid") || name.starts_with("ntid") || name.starts_with("nctaid")
                 ? InstructionUniformity::Default
                 : InstructionUniformity::NeverUniform;
    return call.doesNotAccessMemory() && !call.isConvergent() ? InstructionUniformity::Default
                                                              : InstructionUniformity::NeverUniform;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return InstructionUniformity::NeverUniform;
  if (is_same_in_all_lanes(callee->getName())) return InstructionUniformity::AlwaysUniform;
  if (callee->getName() == "metal.thread_index_in_simdgroup") return InstructionUniformity::NeverUniform;
  const bool is_function_of_operands = callee->getName().starts_with("metal.") && !call.isConvergent();
  return is_function_of_operands ? InstructionUniformity::Default : InstructionUniformity::NeverUniform;
}

// What LLVM asks about a target, answered for lanes of a SIMD-group.
class Seeds final : public llvm::TargetTransformInfoImplBase {
 public:
  Seeds(const llvm::DataLayout& layout, const llvm::SmallPtrSetImpl<const llvm::Value*>& divergent)
      : TargetTransformInfoImplBase(layout), divergent_(divergent) {}

  bool hasBranchDivergence(const llvm::Function*) const override { return true; }

  InstructionUniformity getInstructionUniformity(const llvm::Value* value) const override {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(value))
      return !load->isAtomic() && is_shared_memory(load->getPointerOperand()) ? InstructionUniformity::Default
                                                                              : InstructionUniformity::NeverUniform;
    if (llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(value)) return InstructionUniformity::NeverUniform;
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(value)) return uniformity_of_call(*call);
    return divergent_.contains(value) ? InstructionUniformity::NeverUniform : InstructionUniformity::Default;
  }

 private:
  const llvm::SmallPtrSetImpl<const llvm::Value*>& divergent_;
};

// LLVM's uniformity analysis with these seeds.
//
// Lanes that leave a loop at different times and by different edges bring different values to a phi behind it. LLVM
// sees that only if one of these is computed in the loop; the others are found here, and then count as seeds
// themselves.
class Uniformity {
 public:
  explicit Uniformity(llvm::Function& function) : function_(function) {
    analyses_.registerPass([this] {
      return llvm::TargetIRAnalysis([this](const llvm::Function& of) {
        return llvm::TargetTransformInfo(std::make_unique<Seeds>(of.getDataLayout(), divergent_));
      });
    });
    analyses_.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    analyses_.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    analyses_.registerPass([] { return llvm::CycleAnalysis(); });
    analyses_.registerPass([] { return llvm::UniformityInfoAnalysis(); });
    while (find_phis_behind_loops())
      analyses_.invalidate(function, llvm::PreservedAnalyses::allInSet<llvm::CFGAnalyses>());
  }

  bool divides(const llvm::BasicBlock& block) { return result().hasDivergentTerminator(block); }

  // Outer ones before those in them.
  llvm::SmallVector<const llvm::Cycle*> loops() {
    llvm::SmallVector<const llvm::Cycle*> all;
    for (const llvm::Cycle* outermost : analyses_.getResult<llvm::CycleAnalysis>(function_).toplevel_cycles())
      llvm::append_range(all, llvm::depth_first(outermost));
    return all;
  }

 private:
  llvm::UniformityInfo& result() { return analyses_.getResult<llvm::UniformityInfoAnalysis>(function_); }

  // Whether there are more than were known.
  bool find_phis_behind_loops() {
    const size_t known = divergent_.size();
    for (const llvm::Cycle* loop : loops()) {
      if (llvm::none_of(loop->blocks(), [&](const llvm::BasicBlock* block) { return divides(*block); })) continue;
      llvm::SmallVector<llvm::BasicBlock*> exits;
      loop->getExitBlocks(exits);
      for (const llvm::BasicBlock* exit : exits)
        for (const llvm::PHINode& phi : exit->phis())
          if (result().isUniform(&phi) && takes_several_values(phi, *loop)) divergent_.insert(&phi);
    }
    return divergent_.size() > known;
  }

  static bool takes_several_values(const llvm::PHINode& phi, const llvm::Cycle& loop) {
    const llvm::Value* value = nullptr;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i) {
      if (!loop.contains(phi.getIncomingBlock(i))) continue;
      if (value && value != phi.getIncomingValue(i)) return true;
      value = phi.getIncomingValue(i);
    }
    return false;
  }

  llvm::Function& function_;
  llvm::SmallPtrSet<const llvm::Value*, 8> divergent_;
  llvm::FunctionAnalysisManager analyses_;
};

// All blocks from which a convergent call can still be reached.
Blocks find_unfinished(llvm::Function& function) {
  Blocks unfinished;
  llvm::SmallVector<const llvm::BasicBlock*> left;
  const auto add = [&](const llvm::BasicBlock* block) {
    if (unfinished.insert(block).second) left.push_back(block);
  };
  for (const llvm::BasicBlock& block : function)
    for (const llvm::Instruction& instruction : block)
      if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction); call && call->isConvergent()) add(&block);
  while (!left.empty())
    for (const llvm::BasicBlock* before : llvm::predecessors(left.pop_back_val())) add(before);
  return unfinished;
}

// Where paths from a block meet again, in the graph of some blocks only, after Cooper, Harvey and Kennedy ("A Simple,
// Fast Dominance Algorithm"), backwards from the blocks that none follow. LLVM's trees are of whole functions.
class PostDominators {
 public:
  PostDominators(const llvm::Function& function, const Blocks& blocks, llvm::ArrayRef<const llvm::Cycle*> loops)
      : blocks_(blocks) {
    const auto is_in = [&](const llvm::BasicBlock* block) { return blocks.contains(block); };
    for (const llvm::BasicBlock& block : function)
      if (is_in(&block) && llvm::none_of(llvm::successors(&block), is_in)) start_at(&block);
    // Of loops that have no end among these blocks, the header is the last.
    for (const llvm::Cycle* loop : llvm::reverse(loops))
      if (is_in(loop->getHeader()) && llvm::all_of(loop->blocks(), [&](const llvm::BasicBlock* block) {
            return llvm::all_of(llvm::successors(block),
                                [&](const llvm::BasicBlock* next) { return !is_in(next) || loop->contains(next); });
          }))
        start_at(loop->getHeader());
    end_ = order_.size();
    next_.assign(end_ + 1, unknown);
    next_[end_] = end_;
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t block = end_; block-- > 0;) {
        const size_t found = meeting_of_successors(block);
        changed |= found != next_[block];
        next_[block] = found;
      }
    }
  }

  // The first block that all paths from this one reach, null if that is the end.
  const llvm::BasicBlock* after(const llvm::BasicBlock* block) const {
    const size_t found = next_[numbers_.lookup(block)];
    return found == end_ ? nullptr : order_[found];
  }

 private:
  static constexpr size_t unknown = ~size_t{0};

  // Numbers all blocks that come before one, the blocks before them first.
  void start_at(const llvm::BasicBlock* last) {
    if (!seen_.insert(last).second) return;
    lasts_.insert(last);
    llvm::SmallVector<std::pair<const llvm::BasicBlock*, llvm::const_pred_iterator>> path{
        {last, llvm::pred_begin(last)}};
    while (!path.empty()) {
      auto& [block, before] = path.back();
      if (before == llvm::pred_end(block)) {
        numbers_[block] = order_.size();
        order_.push_back(block);
        path.pop_back();
      } else if (const llvm::BasicBlock* found = *before++; blocks_.contains(found) && seen_.insert(found).second) {
        path.push_back({found, llvm::pred_begin(found)});
      }
    }
  }

  size_t meeting_of_successors(size_t block) const {
    size_t meeting = lasts_.contains(order_[block]) ? end_ : unknown;
    for (const llvm::BasicBlock* successor : llvm::successors(order_[block])) {
      if (!blocks_.contains(successor)) continue;
      const size_t number = numbers_.lookup(successor);
      if (next_[number] != unknown) meeting = meeting == unknown ? number : common(meeting, number);
    }
    return meeting;
  }

  size_t common(size_t a, size_t b) const {
    while (a != b) (a < b ? a : b) = next_[std::min(a, b)];
    return a;
  }

  const Blocks& blocks_;
  Blocks seen_, lasts_;
  llvm::SmallVector<const llvm::BasicBlock*> order_;
  llvm::DenseMap<const llvm::BasicBlock*, size_t> numbers_;
  llvm::SmallVector<size_t> next_;
  size_t end_ = 0;
};

}  // namespace

Together::Together(llvm::Function& function) : is_kernel_(function.getCallingConv() == llvm::CallingConv::PTX_Kernel) {
  if (!is_kernel_) return;
  Uniformity uniformity(function);
  unfinished_ = find_unfinished(function);
  const PostDominators post_dominators(function, unfinished_, uniformity.loops());

  const auto sides_left = [&](const llvm::BasicBlock* block) {
    Blocks sides;
    for (const llvm::BasicBlock* next : llvm::successors(block))
      if (goes_on(next)) sides.insert(next);
    return sides;
  };
  llvm::SmallVector<const llvm::BasicBlock*> dividing;
  for (const llvm::BasicBlock& block : function) {
    if (!uniformity.divides(block)) continue;
    if (sides_left(&block).size() > 1)
      dividing.push_back(&block);
    else
      exits_.insert(&block);
  }
  dividing_.insert(dividing.begin(), dividing.end());
  const auto part = [&](const llvm::BasicBlock* block) {
    if (apart_.insert(block).second && sides_left(block).size() > 1) dividing.push_back(block);
  };
  // A loop that only ends lanes leave has no end in the graph that is left, and nothing of it depends on its entry
  // there.
  const auto part_loops = [&] {
    for (const llvm::Cycle* loop : uniformity.loops())
      if (llvm::any_of(loop->getEntries(), [&](const llvm::BasicBlock* entry) { return apart_.contains(entry); }))
        for (const llvm::BasicBlock* block : loop->blocks())
          if (goes_on(block)) part(block);
    return !dividing.empty();
  };
  do {
    while (!dividing.empty()) {
      const llvm::BasicBlock* block = dividing.pop_back_val();
      const llvm::BasicBlock* const end = post_dominators.after(block);
      for (const llvm::BasicBlock* side : sides_left(block))
        for (; side && side != end; side = post_dominators.after(side)) part(side);
    }
  } while (part_loops());
  for (const llvm::BasicBlock* block : apart_) {
    dividing_.erase(block);
    if (llvm::succ_empty(block) || !llvm::all_of(llvm::successors(block), [&](auto* next) { return goes_on(next); }))
      exits_.insert(block);
  }
}

}  // namespace metalloid::nvidia::lower
