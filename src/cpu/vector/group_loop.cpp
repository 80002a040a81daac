#include "cpu/vector/group_loop.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <array>

#include "cpu/thread_state.hpp"
#include "cpu/vector/fetch_ahead.hpp"
#include "cpu/vector/lane_form.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr llvm::StringLiteral attribute = "metalloid-runs-many-groups";

bool has_loops(const llvm::Function& function) {
  llvm::SmallVector<std::pair<const llvm::BasicBlock*, const llvm::BasicBlock*>> back_edges;
  llvm::FindFunctionBackedges(function, back_edges);
  return !back_edges.empty();
}

bool waits(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* called = call ? call->getCalledFunction() : nullptr;
    return called && (called->getName() == barrier_function || called->getName() == turn_function);
  });
}

bool calls_the_runtime(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::CallInst>(instruction) && !llvm::isa<llvm::IntrinsicInst>(instruction);
  });
}

// What the state of a group says about it, and not about its threadgroup: numbers of 32 bits by their offsets.
constexpr size_t offsets_of_group[] = {offsetof(ThreadState, position.x), offsetof(ThreadState, position.y),
                                       offsetof(ThreadState, position.z), offsetof(ThreadState, index)};
constexpr size_t index_of_group = std::size(offsets_of_group) - 1;

llvm::Value* member(llvm::IRBuilder<>& builder, llvm::Value* state, size_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state, offset);
}

class GroupLoop {
 public:
  GroupLoop(llvm::Function& function, const Variant& variant)
      : function_(function), state_(function.getArg(0)), width_(variant.width), builder_(function.getContext()) {}

  void make() {
    const Blocks blocks = blocks_of_function();
    llvm::BasicBlock* body = blocks.front();
    start_ = new_block(body);
    group_ = new_block(body);
    end_ = new_block();
    llvm::BasicBlock* next = new_block();
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*body))
      if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(*start_, start_->end());
    for (llvm::BasicBlock* block : blocks)
      if (auto* last = llvm::dyn_cast<llvm::ReturnInst>(block->getTerminator())) {
        llvm::BranchInst::Create(next, last->getIterator());
        last->eraseFromParent();
      }

    builder_.SetInsertPoint(start_);
    groups_ = builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, state_, offsetof(ThreadState, groups)));
    positions_ = builder_.CreateLoad(builder_.getPtrTy(), member(builder_, state_, offsetof(ThreadState, positions)));
    first_ = builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, state_, offsetof(ThreadState, index)));
    builder_.CreateBr(group_);

    builder_.SetInsertPoint(group_);
    number_ = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    number_->addIncoming(builder_.getInt32(0), start_);
    const OfGroup of_group = move_along_rows(next);
    builder_.CreateBr(body);

    builder_.SetInsertPoint(body, body->begin());
    replace_loads(blocks, of_group);
    if (calls_the_runtime(function_))
      for (size_t i = 0; i < of_group.size(); ++i)
        builder_.CreateStore(of_group[i], member(builder_, state_, offsets_of_group[i]));

    builder_.SetInsertPoint(next);
    llvm::Value* another = builder_.CreateAdd(number_, builder_.getInt32(1), "", /*HasNUW=*/true);
    number_->addIncoming(another, next);
    builder_.CreateCondBr(builder_.CreateICmpULT(another, groups_), group_, end_);
    builder_.SetInsertPoint(end_);
    builder_.CreateRetVoid();
  }

  // Before each group, as long as there are groups ahead.
  void fetch_ahead(llvm::Function& code) {
    const Blocks others = blocks_of_function();
    llvm::BasicBlock *body = group_->getSingleSuccessor(), *fetch = new_block(body);
    group_->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(group_);
    llvm::Value* ahead = builder_.CreateAdd(number_, builder_.getInt32(groups_ahead(width_)), "", /*HasNUW=*/true);
    builder_.CreateCondBr(builder_.CreateICmpULT(ahead, groups_), fetch, body);
    builder_.SetInsertPoint(fetch);
    const OfGroup of_group = place(ahead);
    llvm::CallInst* call = builder_.CreateCall(&code, {state_});
    builder_.CreateBr(body);
    llvm::InlineFunctionInfo inlined;
    llvm::InlineFunction(*call, inlined);
    Blocks blocks = blocks_of_function();
    llvm::erase_if(blocks, [&](llvm::BasicBlock* block) { return llvm::is_contained(others, block); });
    replace_loads(blocks, of_group);
  }

  // All groups are run by other code, if that pays.
  void leave_to(llvm::Function& other, const CodeAhead& ahead) {
    llvm::BasicBlock* leave = new_block(end_);
    start_->getTerminator()->eraseFromParent();
    builder_.SetInsertPoint(start_);
    builder_.CreateCondBr(is_worth_fetching(builder_, state_, ahead), leave, group_);
    builder_.SetInsertPoint(leave);
    builder_.CreateCall(&other, {state_});
    builder_.CreateBr(end_);
  }

 private:
  using Blocks = llvm::SmallVector<llvm::BasicBlock*>;
  using OfGroup = std::array<llvm::Value*, std::size(offsets_of_group)>;

  Blocks blocks_of_function() {
    Blocks blocks;
    for (llvm::BasicBlock& block : function_) blocks.push_back(&block);
    return blocks;
  }

  llvm::BasicBlock* new_block(llvm::BasicBlock* before = nullptr) {
    return llvm::BasicBlock::Create(function_.getContext(), "", &function_, before);
  }

  // What the state would say about the loop's group. Where the next one is is found out in registers: memory is for
  // what groups read and write.
  OfGroup move_along_rows(llvm::BasicBlock* next) {
    llvm::IRBuilder<> at_start(start_->getTerminator()), at_next(next);
    const auto from_state = [&](size_t offset) {
      return at_start.CreateLoad(at_start.getInt32Ty(), member(at_start, state_, offset));
    };
    std::array<llvm::PHINode*, 3> position;
    for (size_t i = 0; i < position.size(); ++i) {
      position[i] = builder_.CreatePHI(builder_.getInt32Ty(), 2);
      position[i]->addIncoming(from_state(offsets_of_group[i]), start_);
    }
    const auto [x, y, z] = position;
    llvm::Value* const zero = builder_.getInt32(0);
    llvm::Value* const next_x = at_next.CreateAdd(x, at_next.getInt32(width_));
    llvm::Value* const is_new_row = at_next.CreateICmpUGE(next_x, from_state(offsetof(ThreadState, row_end)));
    llvm::Value* const next_y = at_next.CreateAdd(y, at_next.CreateZExt(is_new_row, at_next.getInt32Ty()));
    llvm::Value* const is_new_layer = at_next.CreateICmpEQ(next_y, from_state(offsetof(ThreadState, layer_end)));
    x->addIncoming(at_next.CreateSelect(is_new_row, zero, next_x), next);
    y->addIncoming(at_next.CreateSelect(is_new_layer, zero, next_y), next);
    z->addIncoming(at_next.CreateAdd(z, at_next.CreateZExt(is_new_layer, at_next.getInt32Ty())), next);
    return {x, y, z, builder_.CreateAdd(first_, builder_.CreateMul(number_, builder_.getInt32(width_)))};
  }

  // What it would say about another one.
  OfGroup place(llvm::Value* number) {
    OfGroup of_group;
    llvm::Value* place =
        builder_.CreateMul(builder_.CreateZExt(number, builder_.getInt64Ty()), builder_.getInt64(sizeof(device::Size)));
    llvm::Value* position = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), positions_, place);
    for (unsigned i = 0; i < index_of_group; ++i)
      of_group[i] = builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, position, i * sizeof(uint32_t)));
    of_group[index_of_group] = builder_.CreateAdd(first_, builder_.CreateMul(number, builder_.getInt32(width_)));
    return of_group;
  }

  // What these blocks read from the state comes from the loop; what they call looks there.
  void replace_loads(const Blocks& blocks, const OfGroup& of_group) {
    const llvm::DataLayout& layout = function_.getDataLayout();
    for (llvm::BasicBlock* block : blocks)
      for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
        auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
        if (!load) continue;
        llvm::APInt offset(64, 0);
        if (load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, false) != state_) continue;
        const auto* found = llvm::find(offsets_of_group, offset.getZExtValue());
        if (found == std::end(offsets_of_group)) continue;
        load->replaceAllUsesWith(of_group[static_cast<size_t>(found - std::begin(offsets_of_group))]);
        load->eraseFromParent();
      }
  }

  llvm::Function& function_;
  llvm::Value* state_;
  const uint32_t width_;
  llvm::IRBuilder<> builder_;
  llvm::BasicBlock *start_ = nullptr, *group_ = nullptr, *end_ = nullptr;
  llvm::Value *groups_ = nullptr, *positions_ = nullptr, *first_ = nullptr;
  llvm::PHINode* number_ = nullptr;
};

}  // namespace

LoopsOverGroups loop_over_groups(llvm::Function& function, const Variant& variant,
                                 const std::function<void(llvm::Function&)>& simplify) {
  LoopsOverGroups loops{&function};
  if (!may_be_looped_over(variant) || has_loops(function) || waits(function)) {
    erase_marks(function);
    return loops;
  }
  function.addFnAttr(attribute);
  GroupLoop usual(function, variant);
  const CodeAhead ahead = take_code_ahead(function, simplify);
  if (!ahead.fetch) {
    if (variant.streams) fetch_streams(function);
    usual.make();
    return loops;
  }
  llvm::ValueToValueMapTy map;
  loops.push_back(llvm::CloneFunction(&function, map));
  loops.back()->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::stripDebugInfo(*loops.back());
  for (llvm::IntrinsicInst* access : ahead.accesses) access_one_by_one(*llvm::cast<llvm::IntrinsicInst>(map[access]));
  usual.make();
  usual.leave_to(*loops.back(), ahead);
  GroupLoop fetching(*loops.back(), variant);
  fetching.make();
  fetching.fetch_ahead(*ahead.fetch);
  ahead.fetch->eraseFromParent();
  return loops;
}

bool runs_many_groups(const llvm::Function& function) {
  return function.hasFnAttribute(attribute);
}

}  // namespace metalloid::cpu::vector
