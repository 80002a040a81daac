#include "cpu/lower/exponentials.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <array>
#include <bit>

#include "cpu/vector/target.hpp"

namespace metalloid::cpu::lower {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

llvm::Constant* number(const Value* like, float value) {
  return llvm::ConstantFP::get(like->getType(), value);
}

Value* polynomial(Builder& builder, Value* x, llvm::ArrayRef<float> coefficients) {
  Value* sum = number(x, coefficients.front());
  for (float coefficient : coefficients.drop_front())
    sum = builder.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {sum, x, number(x, coefficient)});
  return sum;
}

// An instruction for a register of 4, 8 or 16 lanes.
Value* in_all_lanes(Builder& builder, std::array<llvm::Intrinsic::ID, 3> for_lanes, Value* x, Value* y) {
  constexpr uint32_t usual_rounding = 4;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  Value* const every_lane = llvm::Constant::getAllOnesValue(builder.getIntNTy(std::max(lanes, 8u)));
  llvm::SmallVector<Value*, 5> operands{x, y, llvm::PoisonValue::get(x->getType()), every_lane};
  if (lanes == 16) operands.push_back(builder.getInt32(usual_rounding));
  return builder.CreateIntrinsic(for_lanes[llvm::Log2_32(lanes / 4)], {}, operands);
}

// 2^x within 2.3 units in the last place. Of infinite x nothing is left to the polynomial, which is 1.
Value* exp2_of_register(Builder& builder, Value* x) {
  using namespace llvm::Intrinsic;
  constexpr uint32_t floor = 1, no_exceptions = 8;
  Value* const fraction = in_all_lanes(
      builder, {x86_avx512_mask_reduce_ps_128, x86_avx512_mask_reduce_ps_256, x86_avx512_mask_reduce_ps_512}, x,
      builder.getInt32(floor | no_exceptions));
  Value* const power = polynomial(
      builder, fraction, {0x1.eaa9a2p-10f, 0x1.27426cp-7f, 0x1.c91e74p-5f, 0x1.ebdc0ep-3f, 0x1.62e4b2p-1f, 1.0f});
  return in_all_lanes(
      builder, {x86_avx512_mask_scalef_ps_128, x86_avx512_mask_scalef_ps_256, x86_avx512_mask_scalef_ps_512}, power, x);
}

Value* exp2_of_vector(Builder& builder, Value* x) {
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(x->getType())->getNumElements();
  const unsigned in_register = lanes >= 16 ? 16 : lanes > 4 ? 8 : 4;
  llvm::SmallVector<Value*> powers;
  for (unsigned first = 0; first < lanes; first += in_register) {
    llvm::SmallVector<int, 16> places(in_register, -1);
    for (unsigned i = 0; i < in_register && first + i < lanes; ++i) places[i] = static_cast<int>(first + i);
    powers.push_back(exp2_of_register(builder, builder.CreateShuffleVector(x, places)));
  }
  return builder.CreateShuffleVector(llvm::concatenateVectors(builder, powers),
                                     llvm::createSequentialMask(0, lanes, 0));
}

Value* exp2_by_instructions(Builder& builder, Value* x) {
  if (x->getType()->isVectorTy()) return exp2_of_vector(builder, x);
  auto* const one_lane = llvm::FixedVectorType::get(x->getType(), 1);
  Value* const power = exp2_of_vector(builder, builder.CreateBitCast(x, one_lane));
  return builder.CreateBitCast(power, x->getType());
}

// 2^x of one lane, within 2^-23, by what rounding leaves. Adding 3 * 2^22 rounds: a float has no bits for a fraction
// then, and the integer in its low ones. A NaN stays one.
Value* exp2_of_lane(Builder& builder, Value* x) {
  constexpr float smallest = -151, largest = 129, integers = 0x1.8p23f;
  x = builder.CreateSelect(builder.CreateFCmpOGT(x, number(x, largest)), number(x, largest), x);
  x = builder.CreateSelect(builder.CreateFCmpOLT(x, number(x, smallest)), number(x, smallest), x);
  Value* const shifted = builder.CreateFAdd(x, number(x, integers));
  Value* const rest = builder.CreateFSub(x, builder.CreateFSub(shifted, number(x, integers)));
  Value* const integer = builder.CreateSub(builder.CreateBitCast(shifted, builder.getInt32Ty()),
                                           builder.getInt32(std::bit_cast<uint32_t>(integers)));
  Value* const power = polynomial(
      builder, rest, {0x1.5cd77ap-10f, 0x1.3cf732p-7f, 0x1.c6b576p-5f, 0x1.ebf99cp-3f, 0x1.62e42ap-1f, 1.0f});
  return builder.CreateIntrinsic(llvm::Intrinsic::ldexp, {x->getType(), integer->getType()}, {power, integer});
}

void expand(llvm::Module& module, Value* (*exp2)(Builder&, Value*)) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (function.getIntrinsicID() != llvm::Intrinsic::exp2) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      Builder builder(call);
      call->replaceAllUsesWith(exp2(builder, call->getArgOperand(0)));
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

}  // namespace

bool has_exponential_instructions(const llvm::Function& kernel) {
  return vector::has_feature(kernel, "avx512dq") && vector::has_feature(kernel, "avx512vl");
}

void expand_exponentials_to_instructions(llvm::Module& module) {
  expand(module, exp2_by_instructions);
}

void expand_exponentials(llvm::Module& module) {
  expand(module, exp2_of_lane);
}

}  // namespace metalloid::cpu::lower
