#include "cpu/lower/thread_values.hpp"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include "bitcode/address_spaces.hpp"
#include "cpu/limits.hpp"
#include "cpu/thread_state.hpp"
#include "cpu/vector/lane_form.hpp"

namespace metalloid::cpu::lower {

namespace {

constexpr llvm::StringLiteral current_thread = "metalloid.current_thread";

llvm::Value* load_size(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, unsigned component) {
  return load_fixed_member(builder, state, offset + component * sizeof(uint32_t), builder.getInt32Ty());
}

// Of the threads of a threadgroup.
llvm::Value* load_extent(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, unsigned component) {
  return load_fixed_number(builder, state, offset + component * sizeof(uint32_t), 1, max_threads_per_threadgroup + 1);
}

llvm::Value* count(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset) {
  llvm::Value* product = load_extent(builder, state, offset, 0);
  for (unsigned i = 1; i < 3; ++i)
    product = builder.CreateMul(product, load_extent(builder, state, offset, i), "", /*HasNUW=*/true, /*HasNSW=*/true);
  return product;
}

// How many groups of `width` threads hold `threads` threads.
llvm::Value* groups(llvm::IRBuilder<>& builder, llvm::Value* threads, unsigned width) {
  llvm::Value* const rounded_up =
      builder.CreateAdd(threads, builder.getInt32(width - 1), "", /*HasNUW=*/true, /*HasNSW=*/true);
  return builder.CreateUDiv(rounded_up, builder.getInt32(width));
}

}  // namespace

llvm::Value* thread_state(llvm::Function& function) {
  if (function.getName() == entry_name) return function.getArg(0);
  llvm::Instruction& first = *function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  if (auto* call = llvm::dyn_cast<llvm::CallInst>(&first))
    if (call->getCalledFunction() && call->getCalledFunction()->getName() == current_thread) return call;
  llvm::IRBuilder<> builder(&first);
  llvm::FunctionCallee callee = function.getParent()->getOrInsertFunction(current_thread, builder.getPtrTy());
  auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
  declared->setDoesNotThrow();
  declared->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return builder.CreateCall(callee);
}

llvm::Value* load_member(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, llvm::Type* type) {
  return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), state, offset));
}

llvm::Value* load_fixed_member(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, llvm::Type* type) {
  auto* load = llvm::cast<llvm::LoadInst>(load_member(builder, state, offset, type));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(builder.getContext(), {}));
  return load;
}

llvm::Value* load_fixed_number(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, uint32_t least,
                               uint32_t limit) {
  auto* load = llvm::cast<llvm::LoadInst>(load_fixed_member(builder, state, offset, builder.getInt32Ty()));
  load->setMetadata(llvm::LLVMContext::MD_range,
                    llvm::MDBuilder(builder.getContext()).createRange(llvm::APInt(32, least), llvm::APInt(32, limit)));
  return load;
}

llvm::Value* threadgroup_state(llvm::IRBuilder<>& builder, llvm::Value* thread) {
  return load_fixed_member(builder, thread, offsetof(ThreadState, threadgroup), builder.getPtrTy());
}

llvm::Value* threadgroup_memory(llvm::IRBuilder<>& builder, llvm::Value* thread) {
  llvm::Value* memory = load_fixed_member(builder, threadgroup_state(builder, thread),
                                          offsetof(ThreadgroupState, memory), builder.getPtrTy());
  return builder.CreateAddrSpaceCast(memory, builder.getPtrTy(bitcode::threadgroup_address_space));
}

llvm::Value* grid_value(llvm::IRBuilder<>& builder, llvm::Value* thread, GridValue value, unsigned component,
                        const vector::Variant* variant) {
  if (variant)
    if (llvm::Value* own = vector::lane_value(builder, thread, value, component, *variant)) return own;
  llvm::Value* threadgroup = threadgroup_state(builder, thread);
  llvm::Value* grid = load_fixed_member(builder, threadgroup, offsetof(ThreadgroupState, grid), builder.getPtrTy());
  llvm::Value* index = load_fixed_number(builder, thread, offsetof(ThreadState, index), 0, max_threads_per_threadgroup);
  llvm::Value* threads = count(builder, threadgroup, offsetof(ThreadgroupState, threads));
  llvm::Value* full_threads = count(builder, grid, offsetof(GridState, threads_per_threadgroup));
  switch (value) {
    case GridValue::thread_position_in_grid: {
      llvm::Value* group = load_size(builder, threadgroup, offsetof(ThreadgroupState, position), component);
      llvm::Value* size = load_extent(builder, grid, offsetof(GridState, threads_per_threadgroup), component);
      llvm::Value* inside = load_size(builder, thread, offsetof(ThreadState, position), component);
      return builder.CreateAdd(builder.CreateMul(group, size), inside);
    }
    case GridValue::thread_position_in_threadgroup:
      return load_size(builder, thread, offsetof(ThreadState, position), component);
    case GridValue::thread_index_in_threadgroup:
      return index;
    case GridValue::thread_index_in_simdgroup:
      return builder.CreateAnd(index, 31);
    case GridValue::thread_index_in_quadgroup:
      return builder.CreateAnd(index, 3);
    case GridValue::threadgroup_position_in_grid:
      return load_size(builder, threadgroup, offsetof(ThreadgroupState, position), component);
    case GridValue::threadgroups_per_grid:
      return load_size(builder, grid, offsetof(GridState, threadgroups_per_grid), component);
    case GridValue::threads_per_grid:
    case GridValue::grid_size:
      return load_size(builder, grid, offsetof(GridState, threads_per_grid), component);
    case GridValue::threads_per_threadgroup:
      return load_extent(builder, threadgroup, offsetof(ThreadgroupState, threads), component);
    case GridValue::dispatch_threads_per_threadgroup:
      return load_extent(builder, grid, offsetof(GridState, threads_per_threadgroup), component);
    case GridValue::simdgroup_index_in_threadgroup:
      return builder.CreateLShr(index, 5);
    case GridValue::simdgroups_per_threadgroup:
      return groups(builder, threads, 32);
    case GridValue::dispatch_simdgroups_per_threadgroup:
      return groups(builder, full_threads, 32);
    case GridValue::threads_per_simdgroup:
    case GridValue::thread_execution_width:
      return builder.getInt32(32);
    case GridValue::quadgroup_index_in_threadgroup:
      return builder.CreateLShr(index, 2);
    case GridValue::quadgroups_per_threadgroup:
      return groups(builder, threads, 4);
    case GridValue::dispatch_quadgroups_per_threadgroup:
      return groups(builder, full_threads, 4);
    case GridValue::grid_origin:
    case GridValue::none:
      break;
  }
  return builder.getInt32(0);
}

void lower_thread_builtins(llvm::Module& module, const vector::Variant* variant) {
  const std::pair<const char*, GridValue> builtins[] = {
      {"metal.thread_index_in_simdgroup", GridValue::thread_index_in_simdgroup},
      {"metal.threads_per_simdgroup", GridValue::threads_per_simdgroup},
  };
  for (auto [name, value] : builtins) {
    llvm::Function* builtin = module.getFunction(name);
    if (!builtin) continue;
    for (llvm::User* user : llvm::make_early_inc_range(builtin->users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      llvm::Value* thread = thread_state(*call->getFunction());
      llvm::IRBuilder<> builder(call);
      call->replaceAllUsesWith(grid_value(builder, thread, value, 0, variant));
      call->eraseFromParent();
    }
    builtin->eraseFromParent();
  }
}

}  // namespace metalloid::cpu::lower
