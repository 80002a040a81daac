// Values that move between the lanes of a group: each function says which lane a value comes from. What comes from a
// lane that does not call, or does not exist, is undefined.
#include "nvidia/lower/group_functions_lanes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

class Mover {
 public:
  explicit Mover(const Lanes& lanes) : lanes_(lanes), builder_(lanes.builder) {}

  Value* first(Value* value) const {
    Value* const active = lanes_.in_group(lanes_.active_lanes());
    return at(value, builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active, builder_.getTrue()));
  }

  Value* at(Value* value, Value* place) const {
    if (lanes_.size == 32) return lanes_.take(value, place, lanes_.expected);
    Value* const in_quad = builder_.CreateAnd(place, lanes_.size - 1);
    return lanes_.take(value, builder_.CreateOr(lanes_.first, in_quad), lanes_.expected);
  }

  Value* exchanged(Value* value, Value* bits) const {
    if (lanes_.size != 32) bits = builder_.CreateAnd(bits, lanes_.size - 1);
    return lanes_.take_xor(value, bits, lanes_.expected);
  }

  // Lanes that have none keep theirs, which at a distance of 32 is all of them.
  Value* from_below(Value* value, Value* distance) const {
    if (is_simdgroup_of_hardware())
      return builder_.CreateSelect(is_near(distance), lanes_.take_below(value, distance, lanes_.expected), value);
    Value* const source = builder_.CreateSub(lanes_.place, distance);
    Value* const exists = builder_.CreateICmpUGE(lanes_.place, distance);
    return at(value, builder_.CreateSelect(exists, source, lanes_.place));
  }
  Value* from_above(Value* value, Value* distance) const {
    if (is_simdgroup_of_hardware())
      return builder_.CreateSelect(is_near(distance), lanes_.take_above(value, distance, lanes_.expected), value);
    Value* const source = builder_.CreateAdd(lanes_.place, distance);
    Value* const exists = builder_.CreateICmpULT(source, builder_.getInt32(lanes_.size));
    return at(value, builder_.CreateSelect(exists, source, lanes_.place));
  }

  Value* rotated(Value* value, Value* place) const { return at(value, builder_.CreateAnd(place, lanes_.size - 1)); }

  // A run is `modulo` lanes, a power of two; beyond its end, `data` continues with `filling`.
  Value* filled(bool up, Value* data, Value* filling, Value* delta, Value* modulo) const {
    Value* const size = builder_.getInt32(lanes_.size);
    Value* const in_range = builder_.CreateICmpULT(builder_.CreateSub(modulo, builder_.getInt32(1)), size);
    Value* const run = builder_.CreateSelect(in_range, modulo, size);
    Value* const last = builder_.CreateSub(run, builder_.getInt32(1));
    Value* const place = builder_.CreateAnd(lanes_.place, last);
    Value* const moved = up ? builder_.CreateSub(place, delta) : builder_.CreateAdd(place, delta);
    Value* const source = builder_.CreateOr(builder_.CreateXor(lanes_.place, place), builder_.CreateAnd(moved, last));
    return builder_.CreateSelect(builder_.CreateICmpULT(moved, run), at(data, source), at(filling, source));
  }

 private:
  bool is_simdgroup_of_hardware() const { return lanes_.size == 32 && lanes_.order == LaneOrder::hardware; }
  Value* is_near(Value* distance) const { return builder_.CreateICmpULT(distance, builder_.getInt32(32)); }

  const Lanes& lanes_;
  llvm::IRBuilder<>& builder_;
};

}  // namespace

Value* emit_move(const Lanes& lanes, const GroupFunction& function, llvm::ArrayRef<Value*> operands) {
  llvm::IRBuilder<>& builder = lanes.builder;
  const Mover mover(lanes);
  const auto number = [&](unsigned i) { return builder.CreateZExt(operands[i], builder.getInt32Ty()); };
  Value* const value = operands[0];
  const llvm::StringRef operation = function.operation;
  if (operation == "broadcast_first") return mover.first(value);
  if (operation == "shuffle_and_fill_up") return mover.filled(true, value, operands[1], number(2), number(3));
  if (operation == "shuffle_and_fill_down") return mover.filled(false, value, operands[1], number(2), number(3));
  if (operation == "shuffle_xor") return mover.exchanged(value, number(1));
  if (operation == "shuffle_up") return mover.from_below(value, number(1));
  if (operation == "shuffle_down") return mover.from_above(value, number(1));
  if (operation == "shuffle_rotate_up") return mover.rotated(value, builder.CreateSub(lanes.place, number(1)));
  if (operation == "shuffle_rotate_down") return mover.rotated(value, builder.CreateAdd(lanes.place, number(1)));
  return mover.at(value, number(1));
}

}  // namespace metalloid::nvidia::lower
