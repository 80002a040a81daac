// What the active lanes of a group say about a condition.
#include "nvidia/lower/group_functions_lanes.hpp"

namespace metalloid::nvidia::lower {

using llvm::Value;

namespace {

Value* vote(const Lanes& lanes, llvm::Intrinsic::ID instruction, Value* condition) {
  return lanes.builder.CreateIntrinsic(instruction, {}, {lanes.expected, condition});
}

}  // namespace

Value* emit_vote(const Lanes& lanes, const GroupFunction& function, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value* const active = lanes.in_group(lanes.active_lanes());
  if (function.operation == "active_threads_mask") return builder.CreateZExt(active, builder.getInt64Ty());
  if (function.operation == "is_first") {
    Value* const below = builder.CreateSub(builder.CreateShl(builder.getInt32(1), lanes.place), builder.getInt32(1));
    return builder.CreateIsNull(builder.CreateAnd(active, below));
  }
  if (!function.is_quad && function.operation == "all")
    return vote(lanes, llvm::Intrinsic::nvvm_vote_all_sync, operands[0]);
  if (!function.is_quad && function.operation == "any")
    return vote(lanes, llvm::Intrinsic::nvvm_vote_any_sync, operands[0]);

  Value* const all_groups = vote(lanes, llvm::Intrinsic::nvvm_vote_ballot_sync, operands[0]);
  Value* const in_favour = lanes.in_group(logical_lanes(builder, lanes.order, all_groups));
  if (function.operation == "all") return builder.CreateICmpEQ(in_favour, active);
  if (function.operation == "any") return builder.CreateIsNotNull(in_favour);
  return builder.CreateZExt(in_favour, builder.getInt64Ty());
}

}  // namespace metalloid::nvidia::lower
