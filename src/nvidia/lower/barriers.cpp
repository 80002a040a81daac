// Barriers and fences.
//
// An instruction of the hardware waits for all threads of a threadgroup that have not ended, and orders their accesses
// to memory of every kind. Its aligned form, which a SIMD-group executes as one, is for where lanes are together; in
// code that Metal would call undefined, or that only looks divergent, each thread arrives for itself. Barriers of a
// SIMD-group are group functions (group_functions.cpp).
//
// Texels are ordinary memory, so one fence orders all kinds of it, and what a thread itself wrote it reads with none.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>

#include "nvidia/lower/group_functions_together.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

void lower_threadgroup_barrier(llvm::CallInst& call, bool is_together) {
  llvm::IRBuilder<> builder(&call);
  builder.CreateIntrinsic(
      is_together ? llvm::Intrinsic::nvvm_barrier_cta_sync_aligned_all : llvm::Intrinsic::nvvm_barrier_cta_sync_all, {},
      {builder.getInt32(0)});
}

void lower_barriers_in(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call && call->getCalledFunction() && call->getCalledFunction()->getName() == "metal.threadgroup_barrier")
      calls.push_back(call);
  }
  if (calls.empty()) return;
  const Together together(function);
  for (llvm::CallInst* call : calls) lower_threadgroup_barrier(*call, together.holds(call->getParent()));
  for (llvm::CallInst* call : calls) call->eraseFromParent();
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
}

void use_hardware_fences(llvm::Module& module) {
  if (llvm::Function* fence = module.getFunction("metal.atomic_thread_fence")) write_fence(*fence);
  if (llvm::Function* fence = module.getFunction("metal.texture_fence")) write_texture_fence(*fence);
}

}  // namespace metalloid::nvidia::lower
