// Lane form: a module between its lowering and its widening. The entry is the code of one lane of a group, and what
// differs between lanes comes from one pseudo-function:
//
//     declare i32 @metalloid.lane()          the lane in its group, 0 … width - 1
//
// Everything else that the entry reads from its state (ThreadState) is the same in all lanes of a group. Group
// functions (metal.simd_*, metal.quad_*, metal.simdgroup_*) and metal.threadgroup_barrier are still calls of builtins.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <metalloid/reflection.hpp>

#include "cpu/vector/variant.hpp"

namespace metalloid::cpu::vector {

constexpr llvm::StringLiteral lane_function = "metalloid.lane";

// A call of it, which LLVM knows to be below `width`.
llvm::Value* lane(llvm::IRBuilder<>& builder, uint32_t width);

// A component of a grid value that differs between the lanes of a group, as an i32; null if the value is the same in
// all of them. `state` is the group's.
llvm::Value* lane_value(llvm::IRBuilder<>& builder, llvm::Value* state, GridValue value, unsigned component,
                        const Variant& variant);

// What widened code calls; `state` is the entry's parameter.
constexpr llvm::StringLiteral barrier_function = "metalloid.wait_at_barrier";  // void (ptr state)
constexpr llvm::StringLiteral turn_function = "metalloid.let_others_run";      // void (ptr state)
constexpr llvm::StringLiteral partial_function = "metalloid.run_as_partial";   // void (ptr state): instead of going on

}  // namespace metalloid::cpu::vector
