// What the active lanes of a group say about a condition, as arithmetic on an integer with a bit for each lane.
#include "cpu/vector/group_calls.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

// Bits of lanes, four to a quad.
class LaneBits {
 public:
  explicit LaneBits(const Emission& emission)
      : emission_(emission), builder_(emission.builder), type_(builder_.getIntNTy(emission.width)) {}

  Value* of(Value* lanes) const { return builder_.CreateBitCast(lanes, type_); }
  Value* to_lanes(Value* bits) const { return builder_.CreateBitCast(bits, emission_.vector_of(builder_.getInt1Ty())); }
  llvm::Constant* zero() const { return llvm::ConstantInt::get(type_, 0); }

  // All bits of the quads that have one.
  Value* any_in_quad(Value* bits) const {
    bits = builder_.CreateOr(bits, builder_.CreateLShr(bits, 1));
    bits = builder_.CreateOr(bits, builder_.CreateLShr(bits, 2));
    return builder_.CreateMul(builder_.CreateAnd(bits, in_quads(1)), llvm::ConstantInt::get(type_, 15));
  }

  // The lowest bit of each quad that has one.
  Value* lowest_in_quad(Value* bits) const {
    Value* above = zero();
    for (unsigned step = 1; step < 4; ++step)
      above = builder_.CreateOr(above, builder_.CreateAnd(builder_.CreateShl(bits, step), in_quads(15u << step & 15)));
    return builder_.CreateAnd(bits, builder_.CreateNot(above));
  }

  // In each lane the bits of its quad, as i64.
  Value* of_own_quad(Value* bits) const {
    llvm::SmallVector<llvm::Constant*, 32> first;
    for (unsigned lane = 0; lane < emission_.width; ++lane)
      first.push_back(llvm::ConstantInt::get(type_, lane / 4 * 4));
    Value* const own = builder_.CreateLShr(emission_.splat(bits), llvm::ConstantVector::get(first));
    return builder_.CreateZExt(builder_.CreateAnd(own, 15), emission_.vector_of(builder_.getInt64Ty()));
  }

 private:
  llvm::Constant* in_quads(unsigned quad) const {
    return llvm::ConstantInt::get(type_, llvm::APInt::getSplat(emission_.width, llvm::APInt(4, quad)));
  }

  const Emission& emission_;
  llvm::IRBuilder<>& builder_;
  llvm::IntegerType* type_;
};

Value* vote_in_simdgroup(const Emission& emission, llvm::StringRef operation, Value* active, Value* in_favour) {
  llvm::IRBuilder<>& builder = emission.builder;
  const LaneBits bits(emission);
  if (operation == "all") return builder.CreateICmpEQ(in_favour, active);
  if (operation == "any") return builder.CreateICmpNE(in_favour, bits.zero());
  if (operation == "is_first") return bits.to_lanes(builder.CreateAnd(active, builder.CreateNeg(active)));
  return builder.CreateZExt(in_favour, builder.getInt64Ty());
}

Value* vote_in_quads(const Emission& emission, llvm::StringRef operation, Value* active, Value* in_favour) {
  llvm::IRBuilder<>& builder = emission.builder;
  const LaneBits bits(emission);
  if (operation == "all")
    return bits.to_lanes(builder.CreateNot(bits.any_in_quad(builder.CreateXor(in_favour, active))));
  if (operation == "any") return bits.to_lanes(bits.any_in_quad(in_favour));
  if (operation == "is_first") return bits.to_lanes(bits.lowest_in_quad(active));
  return bits.of_own_quad(in_favour);
}

}  // namespace

Components emit_vote(const Emission& emission, const GroupFunction& function, llvm::ArrayRef<Operand> operands) {
  Value* const active = emission.mask_bits();
  Value* in_favour = active;
  if (!operands.empty()) {
    in_favour = LaneBits(emission).of(operands[0].lanes[0]);
    if (emission.active) in_favour = emission.builder.CreateAnd(in_favour, active);
  }
  return {function.is_quad ? vote_in_quads(emission, function.operation, active, in_favour)
                           : vote_in_simdgroup(emission, function.operation, active, in_favour)};
}

}  // namespace metalloid::cpu::vector
