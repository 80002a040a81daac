// Values that move between the lanes of a group: each function says which lane a value comes from. Metal leaves open
// what comes from a lane that does not call, or does not exist; it is 0, as on every device of ours.
#include "nvidia/lower/group_functions_lanes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

class Mover {
 public:
  explicit Mover(const Lanes& lanes) : lanes_(lanes), builder_(lanes.builder) {}

  Value* first(Value* value) const {
    Value* const active = lanes_.in_group(lanes_.active_lanes());
    Value* const lowest = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, active, builder_.getTrue());
    return lanes_.take(value, builder_.CreateOr(lanes_.first, lowest), lanes_.expected);
  }

  // Of a place in the group, if there is one.
  Value* at(Value* value, Value* place) const {
    if (lanes_.size == 32) return from(place, value, lanes_.take(value, place, lanes_.expected), is_in_group(place));
    Value* const source = builder_.CreateOr(lanes_.first, builder_.CreateAnd(place, lanes_.size - 1));
    return from(source, value, lanes_.take(value, source, lanes_.expected), is_in_group(place));
  }

  Value* exchanged(Value* value, Value* bits) const {
    Value* const near = builder_.CreateAnd(bits, lanes_.size - 1);
    return from(builder_.CreateXor(lanes_.lane, near), value, lanes_.take_xor(value, near, lanes_.expected),
                is_in_group(bits));
  }

  // Lanes that have none keep theirs, which at a distance of 32 is all of them.
  Value* from_below(Value* value, Value* distance) const {
    Value* const source = builder_.CreateSub(lanes_.place, distance);
    Value* const exists = builder_.CreateICmpUGE(lanes_.place, distance);
    Value* const moved = is_simdgroup_of_hardware()
                             ? from(source, value, lanes_.take_below(value, distance, lanes_.expected), exists)
                             : at(value, source);
    return builder_.CreateSelect(exists, moved, value);
  }
  Value* from_above(Value* value, Value* distance) const {
    Value* const source = builder_.CreateAdd(lanes_.place, distance);
    Value* const exists = is_in_group(source);
    Value* const moved = is_simdgroup_of_hardware()
                             ? from(source, value, lanes_.take_above(value, distance, lanes_.expected), exists)
                             : at(value, source);
    return builder_.CreateSelect(exists, moved, value);
  }

  Value* rotated(Value* value, Value* place) const { return at(value, builder_.CreateAnd(place, lanes_.size - 1)); }

  // A run is `modulo` lanes, a power of two; beyond its end, `data` continues with `filling`.
  Value* filled(bool up, Value* data, Value* filling, Value* delta, Value* modulo) const {
    Value* const size = builder_.getInt32(lanes_.size);
    Value* const in_range = builder_.CreateICmpULT(builder_.CreateSub(modulo, builder_.getInt32(1)), size);
    Value* const run = builder_.CreateSelect(in_range, modulo, size);
    Value* const place = builder_.CreateAnd(lanes_.place, builder_.CreateSub(run, builder_.getInt32(1)));
    Value* const moved = up ? builder_.CreateSub(place, delta) : builder_.CreateAdd(place, delta);
    Value* const around = up ? builder_.CreateAdd(moved, run) : builder_.CreateSub(moved, run);
    Value* const is_data = builder_.CreateICmpULT(moved, run);
    Value* const in_run = builder_.CreateSelect(is_data, moved, around);
    Value* const source = builder_.CreateSelect(
        builder_.CreateICmpULT(in_run, run), builder_.CreateOr(builder_.CreateXor(lanes_.place, place), in_run), size);
    return builder_.CreateSelect(is_data, at(data, source), at(filling, source));
  }

 private:
  bool is_simdgroup_of_hardware() const { return lanes_.size == 32 && lanes_.order == LaneOrder::hardware; }
  Value* is_in_group(Value* place) const { return builder_.CreateICmpULT(place, builder_.getInt32(lanes_.size)); }

  // What was taken from a lane of the SIMD-group, if that exists and calls.
  Value* from(Value* lane, Value* own, Value* taken, Value* exists) const {
    Value* const near = builder_.CreateAnd(physical_lane(builder_, lanes_.order, lane), 31);
    Value* const calls = builder_.CreateTrunc(builder_.CreateLShr(lanes_.active, near), builder_.getInt1Ty());
    return builder_.CreateSelect(builder_.CreateAnd(exists, calls), taken,
                                 llvm::Constant::getNullValue(own->getType()));
  }

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
