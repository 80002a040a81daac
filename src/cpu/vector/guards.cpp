// Guards, which shapes of addresses rest on: what must hold in all lanes at run time is found out from lane 0 and from
// how far the others are from it, by a few instructions for the whole group.
#include <llvm/IR/IntrinsicInst.h>

#include "cpu/vector/divisions.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

bool is_signed_guard(const llvm::Instruction& guard) {
  if (const auto* limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&guard)) return limit->isSigned();
  return guard.getOpcode() == llvm::Instruction::SExt || is_signed_division(guard);
}

}  // namespace

// What the shape of an address rests on, and that of its neighbours: an index may wrap around on the way to them.
Shape::Guards Widener::guards_of(const Shape& shape, const Neighbours* neighbours) const {
  Shape::Guards guards = shape.guards;
  const llvm::CastInst* extension = neighbours ? neighbours->extension : nullptr;
  if (!extension || llvm::is_contained(guards, extension)) return guards;
  const Shape index = shapes_.shape(extension->getOperand(0));
  if (!index.keeps_steps_extended(llvm::isa<llvm::SExtInst>(extension), extension->getSrcTy()->getIntegerBitWidth(),
                                  neighbours->lowest_index(), neighbours->highest_index()))
    guards.push_back(extension);
  return guards;
}

// What is divided may be divided by little.
bool Widener::are_expected(const Shape::Guards& guards) const {
  return llvm::none_of(guards, [](const llvm::Instruction* guard) { return guard->isIntDivRem(); });
}

llvm::Value* Widener::guards_hold(const Shape::Guards& guards, const Neighbours* neighbours) {
  llvm::Value* all_hold = builder_.getTrue();
  for (const llvm::Instruction* guard : guards) {
    const bool is_of_neighbours = neighbours && neighbours->extension == guard;
    all_hold = builder_.CreateAnd(all_hold, guard_holds(*guard, is_of_neighbours ? neighbours->lowest_index() : 0,
                                                        is_of_neighbours ? neighbours->highest_index() : 0));
  }
  return all_hold;
}

// Also of operands that are up to so much lower or higher.
llvm::Value* Widener::guard_holds(const llvm::Instruction& guard, int64_t lowest, int64_t highest) {
  const auto* limit = llvm::dyn_cast<llvm::MinMaxIntrinsic>(&guard);
  const bool is_signed = is_signed_guard(guard);
  const unsigned guarded = limit && shapes_.is_uniform(guard.getOperand(0)) ? 1 : 0;
  llvm::Value* operand = guard.getOperand(guarded);
  const unsigned bits = operand->getType()->getIntegerBitWidth();
  if (bits > 32) return builder_.getFalse();
  const auto extended = [&](llvm::Value* value, bool as_signed) {
    return as_signed ? builder_.CreateSExt(value, builder_.getInt64Ty())
                     : builder_.CreateZExt(value, builder_.getInt64Ty());
  };
  const auto number = [&](int64_t value) { return builder_.getInt64(static_cast<uint64_t>(value)); };

  const Shape steps = shapes_.shape(operand);
  int64_t low = 0, high = 0, low_factor = 0, high_factor = 0;
  for (unsigned l = 0; l < width_; ++l) {
    low = std::min(low, steps.step(l));
    high = std::max(high, steps.step(l));
    low_factor = std::min(low_factor, steps.factor_step(l));
    high_factor = std::max(high_factor, steps.factor_step(l));
  }
  low += lowest;
  high += highest;
  llvm::Value *factor_low = number(0), *factor_high = number(0);
  if (steps.factor) {
    if (low_factor < 0) return builder_.getFalse();
    llvm::Value* factor = scalar(steps.factor);
    if (factor->getType()->getIntegerBitWidth() > 32) return builder_.getFalse();
    const bool is_extended = factor->getType()->getIntegerBitWidth() < bits;
    llvm::Value* part =
        builder_.CreateMul(extended(factor, is_extended ? steps.factor_is_signed : is_signed), number(high_factor));
    factor_low = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, part, number(0));
    factor_high = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, part, number(0));
  }
  const auto are_between = [&](llvm::Value* first, llvm::Value* least, llvm::Value* most) {
    return builder_.CreateAnd(
        builder_.CreateICmpSGE(builder_.CreateAdd(builder_.CreateAdd(first, number(low)), factor_low), least),
        builder_.CreateICmpSLE(builder_.CreateAdd(builder_.CreateAdd(first, number(high)), factor_high), most));
  };

  llvm::Value* first = extended(scalar(operand), is_signed);
  llvm::Value* least = number(is_signed ? -(int64_t{1} << (bits - 1)) : 0);
  llvm::Value* most = number(is_signed ? (int64_t{1} << (bits - 1)) - 1 : (int64_t{1} << bits) - 1);
  if (limit) {
    const bool is_maximum = llvm::is_contained({llvm::Intrinsic::smax, llvm::Intrinsic::umax}, limit->getIntrinsicID());
    (is_maximum ? least : most) = extended(scalar(guard.getOperand(1 - guarded)), is_signed);
  }
  if (!guard.isIntDivRem()) return are_between(first, least, most);

  // From what lane 0 leaves, no lane gets to the next multiple of the divisor, nor below the one before.
  llvm::Value* divisor = extended(scalar(guard.getOperand(1)), is_signed);
  llvm::Value* rest = extended(scalar(const_cast<llvm::Instruction*>(&guard)), is_signed);
  if (!is_remainder(guard)) rest = builder_.CreateSub(first, builder_.CreateMul(rest, divisor));
  return builder_.CreateAnd(are_between(first, number(0), most),
                            are_between(rest, number(0), builder_.CreateSub(divisor, number(1))));
}

}  // namespace metalloid::cpu::vector
