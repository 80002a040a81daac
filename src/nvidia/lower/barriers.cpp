// Barriers and fences.
//
// An instruction of the hardware waits for all threads of a threadgroup that have not ended, and orders their accesses
// to memory of every kind. Its aligned form, which a SIMD-group executes as one, is for where lanes are together; in
// code that Metal would call undefined, or that only looks divergent, each thread arrives for itself. A barrier of a
// SIMD-group that orders no memory is nothing that a kernel could see.
//
// Texels are ordinary memory, so one fence orders all kinds of it, and what a thread itself wrote it reads with none.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>

#include "nvidia/lower/group_functions_together.hpp"
#include "nvidia/lower/lane_order.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

void lower_threadgroup_barrier(llvm::CallInst& call, bool is_together) {
  llvm::IRBuilder<> builder(&call);
  builder.CreateIntrinsic(
      is_together ? llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all : llvm::Intrinsic::nvvm_barrier_cta_sync_all, {},
      {builder.getInt32(0)});
}

void lower_simdgroup_barrier(llvm::CallInst& call, bool is_together) {
  const auto* flags = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  if (flags && flags->isZero()) return;
  llvm::IRBuilder<> builder(&call);
  Value* const lanes = is_together ? static_cast<Value*>(builder.getInt32(~0u))
                                   : builder.CreateIntrinsic(llvm::Intrinsic::nvvm_activemask, {});
  builder.CreateIntrinsic(llvm::Intrinsic::nvvm_bar_warp_sync, {}, {lanes});
}

void lower_barriers_in(llvm::Function& function) {
  llvm::SmallVector<std::pair<llvm::CallInst*, decltype(&lower_threadgroup_barrier)>> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (!call || !call->getCalledFunction()) continue;
    const llvm::StringRef name = call->getCalledFunction()->getName();
    if (name == "metal.threadgroup_barrier") calls.push_back({call, lower_threadgroup_barrier});
    if (name == "metal.simdgroup_barrier") calls.push_back({call, lower_simdgroup_barrier});
  }
  if (calls.empty()) return;
  const Together together(function);
  for (const auto& [call, lower] : calls) lower(*call, together.holds(call->getParent()));
  for (const auto& [call, lower] : calls) call->eraseFromParent();
}

void remove_marks(llvm::Module& module) {
  llvm::Function* mark = module.getFunction(same_in_simdgroup_symbol);
  if (!mark) return;
  for (llvm::User* user : llvm::make_early_inc_range(mark->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
  mark->eraseFromParent();
}

// A function that has a body and is called gets another one; gives where to write it.
llvm::BasicBlock* start_anew(llvm::Function& function) {
  function.deleteBody();
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
  return llvm::BasicBlock::Create(function.getContext(), "", &function);
}

// What docs/builtins.md numbers; scopes as LLVM calls the hardware's. A thread by itself needs no fence.
struct NumberedOrder {
  uint32_t number;
  llvm::AtomicOrdering order;
};
constexpr std::array orders{NumberedOrder{2, llvm::AtomicOrdering::Acquire},
                            NumberedOrder{3, llvm::AtomicOrdering::Release},
                            NumberedOrder{4, llvm::AtomicOrdering::AcquireRelease},
                            NumberedOrder{5, llvm::AtomicOrdering::SequentiallyConsistent}};
struct NumberedScope {
  uint32_t number;
  const char* name;
};
constexpr std::array scopes{NumberedScope{1, "block"}, NumberedScope{2, "device"}, NumberedScope{3, ""},
                            NumberedScope{4, "block"}};

// A choice that constant operands decide once it is inlined.
void write_fence(llvm::Function& function) {
  llvm::LLVMContext& context = function.getContext();
  llvm::IRBuilder<> builder(start_anew(function));
  const auto block = [&] { return llvm::BasicBlock::Create(context, "", &function); };
  llvm::BasicBlock* const done = block();
  llvm::SwitchInst* const by_scope = builder.CreateSwitch(function.getArg(2), done);
  for (const auto& [scope, name] : scopes) {
    llvm::BasicBlock* const in_scope = block();
    by_scope->addCase(builder.getInt32(scope), in_scope);
    builder.SetInsertPoint(in_scope);
    llvm::SwitchInst* const by_order = builder.CreateSwitch(function.getArg(1), done);
    for (const auto& [number, order] : orders) {
      llvm::BasicBlock* const fence = block();
      by_order->addCase(builder.getInt32(number), fence);
      builder.SetInsertPoint(fence);
      builder.CreateFence(order, context.getOrInsertSyncScopeID(name));
      builder.CreateBr(done);
    }
  }
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
}

void write_texture_fence(llvm::Function& function) {
  llvm::IRBuilder<>(start_anew(function)).CreateRetVoid();
}

}  // namespace

void lower_barriers(llvm::Module& module) {
  for (llvm::Function& function : module)
    if (!function.isDeclaration()) lower_barriers_in(function);
  remove_marks(module);
}

void use_hardware_fences(llvm::Module& module) {
  if (llvm::Function* fence = module.getFunction("metal.atomic_thread_fence")) write_fence(*fence);
  if (llvm::Function* fence = module.getFunction("metal.texture_fence")) write_texture_fence(*fence);
}

}  // namespace metalloid::nvidia::lower
