// How compiled code gets at the state of its thread. In the kernel's entry that is its one parameter; in functions that
// were not inlined (recursion, visible functions) the runtime is asked once, at their start.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <metalloid/reflection.hpp>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::lower {

constexpr llvm::StringLiteral entry_name = "metalloid.entry";

llvm::Value* thread_state(llvm::Function& function);

// The member at an offset of a state struct; a fixed one does not change while the thread runs.
llvm::Value* load_member(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, llvm::Type* type);
llvm::Value* load_fixed_member(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, llvm::Type* type);

// A fixed i32 that is at least `least` and below `limit`, which LLVM is told: `short(index) / 8` is a shift then.
llvm::Value* load_fixed_number(llvm::IRBuilder<>& builder, llvm::Value* state, uint64_t offset, uint32_t least,
                               uint32_t limit);

llvm::Value* threadgroup_state(llvm::IRBuilder<>& builder, llvm::Value* thread);
llvm::Value* threadgroup_memory(llvm::IRBuilder<>& builder, llvm::Value* thread);

// A component (x, y, z: 0 to 2) of what an attribute such as [[thread_position_in_grid]] asks for, as an i32. Scalars
// have a component 0 only. With a variant, it is made in lane form (vector/lane_form.hpp).
llvm::Value* grid_value(llvm::IRBuilder<>& builder, llvm::Value* thread, GridValue value, unsigned component,
                        const vector::Variant* variant);

// Calls of the builtins that are values of the thread: metal.thread_index_in_simdgroup, metal.threads_per_simdgroup.
void lower_thread_builtins(llvm::Module& module, const vector::Variant* variant);

}  // namespace metalloid::cpu::lower
