// Values that move between the lanes of a group. Each function says where a lane's value comes from, as arithmetic on
// vectors; where the operands are constants, LLVM's builder has folded it and the move is one shuffle.
//
// A value from a lane that is inactive or does not exist is 0, as in the reference engine.
#include <llvm/IR/Constants.h>

#include "cpu/vector/group_calls.hpp"
#include "cpu/vector/permute.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

// Moves bits in one kind of group; all of the vectors are <width x i32> unless they are moved.
class Mover {
 public:
  Mover(const Emission& emission, bool is_quad)
      : emission_(emission), builder_(emission.builder), is_quad_(is_quad), size_(is_quad ? 4 : emission.width) {
    llvm::SmallVector<llvm::Constant*, 32> places;
    for (unsigned lane = 0; lane < emission.width; ++lane) places.push_back(builder_.getInt32(lane % size_));
    place_ = llvm::ConstantVector::get(places);
  }

  Value* shuffle(llvm::StringRef operation, Value* value, Value* operand) const {
    const auto within = [&](Value* place) { return builder_.CreateAnd(place, splat(size_ - 1)); };
    Value* const below = builder_.CreateSub(place_, operand);
    Value* const above = builder_.CreateAdd(place_, operand);
    if (operation == "shuffle_rotate_up") return take(value, within(below));
    if (operation == "shuffle_rotate_down") return take(value, within(above));
    if (operation == "shuffle_up")
      return take(value, builder_.CreateSelect(builder_.CreateICmpULT(place_, operand), place_, below));
    if (operation == "shuffle_down") return take(value, builder_.CreateSelect(exists(above), above, place_));
    Value* const source = operation == "shuffle_xor" ? builder_.CreateXor(place_, operand) : operand;
    return or_zero(exists(source), take(value, source));
  }

  // A run is `modulo` lanes; beyond its end, `data` continues with `filling`.
  Value* shuffle_and_fill(bool up, Value* data, Value* filling, Value* delta, Value* modulo) const {
    Value* const run = builder_.CreateSelect(builder_.CreateICmpULT(builder_.CreateSub(modulo, splat(1)), splat(size_)),
                                             modulo, splat(size_));
    Value* const start = builder_.CreateMul(quotient(place_, run), run);
    Value* const place = builder_.CreateSub(place_, start);
    Value* const moved = up ? builder_.CreateSub(place, delta) : builder_.CreateAdd(place, delta);
    Value* const is_data = builder_.CreateICmpULT(moved, run);
    Value* const beyond = up ? builder_.CreateAdd(moved, run) : builder_.CreateSub(moved, run);
    Value* const in_run = builder_.CreateSelect(is_data, moved, beyond);
    Value* const source = builder_.CreateAdd(start, in_run);
    Value* const result = builder_.CreateSelect(is_data, take(data, source), take(filling, source));
    return or_zero(builder_.CreateAnd(builder_.CreateICmpULT(in_run, run), exists(source)), result);
  }

  // Of the lowest active lane.
  Value* first_of_simdgroup(Value* value) const {
    if (!emission_.active) return builder_.CreateExtractElement(value, uint64_t{0});
    Value* const lowest =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, emission_.mask_bits(), builder_.getFalse());
    return builder_.CreateExtractElement(value, builder_.CreateAnd(lowest, emission_.width - 1));
  }
  Value* first_of_quads(Value* value) const {
    if (!emission_.active) return broadcast_in_quads(emission_, value, 0);
    Value* result = broadcast_in_quads(emission_, value, 3);
    for (unsigned place : {2u, 1u, 0u})
      result = builder_.CreateSelect(broadcast_in_quads(emission_, emission_.active, place),
                                     broadcast_in_quads(emission_, value, place), result);
    return result;
  }

  // The value of one lane of a SIMD-group.
  Value* of_lane(Value* value, Value* lane) const {
    Value* const exists = builder_.CreateICmpULT(lane, llvm::ConstantInt::get(lane->getType(), size_));
    Value* const result = builder_.CreateExtractElement(value, builder_.CreateAnd(lane, size_ - 1));
    return builder_.CreateSelect(exists, result, llvm::Constant::getNullValue(result->getType()));
  }

 private:
  Value* splat(unsigned number) const { return emission_.splat(builder_.getInt32(number)); }
  Value* exists(Value* place) const { return builder_.CreateICmpULT(place, splat(size_)); }

  Value* take(Value* value, Value* source) const {
    return is_quad_ ? permute_in_quads(emission_, value, source) : permute(emission_, value, source);
  }
  Value* or_zero(Value* condition, Value* value) const {
    return builder_.CreateSelect(condition, value, llvm::Constant::getNullValue(value->getType()));
  }

  // Of numbers up to 32, which float divides fast; a half keeps what should be whole from falling below it.
  Value* quotient(Value* a, Value* b) const {
    llvm::Type* const floats = emission_.vector_of(builder_.getFloatTy());
    Value* const middle = builder_.CreateFAdd(builder_.CreateUIToFP(a, floats), llvm::ConstantFP::get(floats, 0.5));
    return builder_.CreateFPToSI(builder_.CreateFDiv(middle, builder_.CreateUIToFP(b, floats)), a->getType());
  }

  const Emission& emission_;
  llvm::IRBuilder<>& builder_;
  bool is_quad_;
  unsigned size_;
  Value* place_;  // of each lane in its group
};

}  // namespace

Components emit_move(const Emission& emission, const GroupFunction& function, llvm::ArrayRef<Operand> operands) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* const type = operands[0].lanes[0]->getType()->getScalarType();
  llvm::Type* const bits = builder.getIntNTy(type->getScalarSizeInBits());
  const auto moved = [&](const Operand& operand) {
    return builder.CreateBitCast(operand.lanes[0], emission.vector_of(bits));
  };
  const auto number = [&](const Operand& operand) {
    return builder.CreateZExt(operand.lanes[0], emission.vector_of(builder.getInt32Ty()));
  };
  const auto result = [&](Value* value) -> Components {
    return {builder.CreateBitCast(value, value->getType()->isVectorTy() ? emission.vector_of(type) : type)};
  };

  const Mover mover(emission, function.is_quad);
  Value* const own = moved(operands[0]);
  if (function.operation == "broadcast_first")
    return result(function.is_quad ? mover.first_of_quads(own) : mover.first_of_simdgroup(own));

  Value* const zero = llvm::Constant::getNullValue(own->getType());
  Value* const value = of_active_lanes(emission, own, zero);
  if (function.operation.starts_with("shuffle_and_fill")) {
    Value* const filling = of_active_lanes(emission, moved(operands[1]), zero);
    return result(mover.shuffle_and_fill(function.operation.ends_with("up"), value, filling, number(operands[2]),
                                         number(operands[3])));
  }
  const bool names_lane = function.operation == "broadcast" || function.operation == "shuffle";
  if (names_lane && !function.is_quad && operands[1].uniform) return result(mover.of_lane(value, operands[1].uniform));
  return result(mover.shuffle(function.operation, value, number(operands[1])));
}

}  // namespace metalloid::cpu::vector
