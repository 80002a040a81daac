// The parts of group_functions.cpp: the lanes that call a group function, and one emitter for each kind of function.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "nvidia/compile.hpp"
#include "nvidia/lower/lane_order.hpp"

namespace metalloid::nvidia::lower {

// The symbol of metal.simd_* and metal.quad_*, taken apart.
struct GroupFunction {
  bool is_quad = false;
  llvm::StringRef operation;  // "sum", "shuffle_xor"
  llvm::StringRef type;       // "f32"; votes have none

  bool is_floating_point() const { return type.starts_with("f"); }
  bool is_signed() const { return type.starts_with("i"); }
};

// Code for lanes that call together. Masks have a bit for each physical lane; all other lanes are logical.
class Lanes {
 public:
  // `active` are exactly the lanes that call. `expected` is what instructions wait for: the same, or all 32 lanes where
  // those that do not call have ended.
  Lanes(llvm::IRBuilder<>& builder, LaneOrder order, const Architecture& architecture, bool is_quad,
        llvm::Value* active, llvm::Value* expected)
      : builder(builder),
        order(order),
        architecture(architecture),
        size(is_quad ? 4 : 32),
        active(active),
        expected(expected),
        lane(logical_lane(builder, order, hardware_lane(builder))),
        place(is_quad ? builder.CreateAnd(lane, 3) : lane),
        first(is_quad ? builder.CreateAnd(lane, 28) : builder.getInt32(0)) {}

  static constexpr uint32_t every = ~0u;
  llvm::Value* is_full() const { return builder.CreateICmpEQ(active, builder.getInt32(every)); }
  llvm::Value* active_lanes() const { return logical_lanes(builder, order, active); }

  // The bits of this lane's group, of bits for all lanes.
  llvm::Value* in_group(llvm::Value* bits) const {
    return size == 32 ? bits : builder.CreateAnd(builder.CreateLShr(bits, first), 15);
  }

  // The value of a lane of the SIMD-group.
  llvm::Value* take(llvm::Value* value, llvm::Value* from, llvm::Value* mask) const {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, value, physical_lane(builder, order, from), 31, mask);
  }
  llvm::Value* take_xor(llvm::Value* value, llvm::Value* bits, llvm::Value* mask) const {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, value, physical_lane(builder, order, bits), 31, mask);
  }
  // Of `distance` lanes below or above, less than 32; lanes that have none keep theirs. Only in the hardware's order.
  llvm::Value* take_below(llvm::Value* value, llvm::Value* distance, llvm::Value* mask) const {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_up_i32, value, distance, 0, mask);
  }
  llvm::Value* take_above(llvm::Value* value, llvm::Value* distance, llvm::Value* mask) const {
    return shuffle(llvm::Intrinsic::nvvm_shfl_sync_down_i32, value, distance, 31, mask);
  }

  llvm::IRBuilder<>& builder;
  const LaneOrder order;
  const Architecture& architecture;
  const unsigned size;  // of a group
  llvm::Value* const active;
  llvm::Value* const expected;
  llvm::Value* const lane;   // of the SIMD-group
  llvm::Value* const place;  // in its group
  llvm::Value* const first;  // lane of its group

 private:
  // In words of 32 bits: smaller values are extended, 64 bits are two words.
  llvm::Value* shuffle(llvm::Intrinsic::ID instruction, llvm::Value* value, llvm::Value* operand, unsigned clamp,
                       llvm::Value* mask) const;
};

llvm::Value* emit_reduction(const Lanes& lanes, const GroupFunction& function, llvm::Value* value);
llvm::Value* emit_prefix(const Lanes& lanes, const GroupFunction& function, llvm::Value* value);
llvm::Value* emit_move(const Lanes& lanes, const GroupFunction& function, llvm::ArrayRef<llvm::Value*> operands);
llvm::Value* emit_vote(const Lanes& lanes, const GroupFunction& function, llvm::ArrayRef<llvm::Value*> operands);

}  // namespace metalloid::nvidia::lower
