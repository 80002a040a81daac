#include "cpu/vector/group_loop.hpp"

#include <llvm/ADT/DepthFirstIterator.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "cpu/thread_state.hpp"
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
    llvm::BasicBlock* body = &function_.getEntryBlock();
    llvm::BasicBlock* start = llvm::BasicBlock::Create(function_.getContext(), "", &function_, body);
    llvm::BasicBlock* next = llvm::BasicBlock::Create(function_.getContext(), "next", &function_);
    llvm::BasicBlock* end = llvm::BasicBlock::Create(function_.getContext(), "end", &function_);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*body))
      if (llvm::isa<llvm::AllocaInst>(instruction)) instruction.moveBefore(*start, start->end());
    for (llvm::BasicBlock& block : function_)
      if (auto* last = llvm::dyn_cast_or_null<llvm::ReturnInst>(block.getTerminator())) {
        llvm::BranchInst::Create(next, last->getIterator());
        last->eraseFromParent();
      }

    builder_.SetInsertPoint(start);
    llvm::Value* groups =
        builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, state_, offsetof(ThreadState, groups)));
    llvm::Value* positions =
        builder_.CreateLoad(builder_.getPtrTy(), member(builder_, state_, offsetof(ThreadState, positions)));
    llvm::Value* first =
        builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, state_, offsetof(ThreadState, index)));
    builder_.CreateBr(body);

    builder_.SetInsertPoint(body, body->begin());
    llvm::PHINode* number = builder_.CreatePHI(builder_.getInt32Ty(), 2);
    number->addIncoming(builder_.getInt32(0), start);
    place(number, positions, first);

    builder_.SetInsertPoint(next);
    llvm::Value* another = builder_.CreateAdd(number, builder_.getInt32(1), "", /*HasNUW=*/true);
    number->addIncoming(another, next);
    builder_.CreateCondBr(builder_.CreateICmpULT(another, groups), body, end);
    builder_.SetInsertPoint(end);
    builder_.CreateRetVoid();
  }

 private:
  // What the body reads from the state comes from the loop; what it calls looks there.
  void place(llvm::Value* number, llvm::Value* positions, llvm::Value* first) {
    llvm::Value* of_group[std::size(offsets_of_group)];
    llvm::Value* place =
        builder_.CreateMul(builder_.CreateZExt(number, builder_.getInt64Ty()), builder_.getInt64(sizeof(device::Size)));
    llvm::Value* position = builder_.CreateInBoundsGEP(builder_.getInt8Ty(), positions, place);
    for (unsigned i = 0; i < index_of_group; ++i)
      of_group[i] = builder_.CreateLoad(builder_.getInt32Ty(), member(builder_, position, i * sizeof(uint32_t)));
    of_group[index_of_group] = builder_.CreateAdd(first, builder_.CreateMul(number, builder_.getInt32(width_)));
    replace_loads(of_group);
    if (calls_the_runtime(function_))
      for (size_t i = 0; i < std::size(of_group); ++i)
        builder_.CreateStore(of_group[i], member(builder_, state_, offsets_of_group[i]));
  }

  void replace_loads(llvm::ArrayRef<llvm::Value*> of_group) {
    const llvm::DataLayout& layout = function_.getDataLayout();
    const llvm::BasicBlock* start = &function_.getEntryBlock();
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function_))) {
      auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!load || load->getParent() == start) continue;
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
};

}  // namespace

void loop_over_groups(llvm::Function& function, const Variant& variant) {
  if (variant.is_partial || variant.is_whole || variant.positions != LanePositions::row || has_loops(function) ||
      waits(function))
    return;
  GroupLoop(function, variant).make();
  function.addFnAttr(attribute);
}

bool runs_many_groups(const llvm::Function& function) {
  return function.hasFnAttribute(attribute);
}

}  // namespace metalloid::cpu::vector
