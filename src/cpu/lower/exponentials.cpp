#include "cpu/lower/exponentials.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <numbers>

#include "cpu/vector/target.hpp"

namespace metalloid::cpu::lower {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

struct Exponential {
  llvm::StringLiteral symbol;
  double factor;  // of the exponent of 2
};

constexpr double log2_10 = std::numbers::ln10 / std::numbers::ln2;
constexpr Exponential exponentials[] = {
    {"metal.fast_exp.f32", std::numbers::log2e},
    {"metal.exp.f16", std::numbers::log2e},
    {"metal.fast_exp2.f32", 1},
    {"metal.exp2.f16", 1},
    {"metal.fast_exp10.f32", log2_10},
    {"metal.exp10.f16", log2_10},
};

void replace_body(llvm::Function& function, double factor) {
  function.deleteBody();
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  Builder builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  Value* x = builder.CreateFPCast(function.getArg(0), builder.getFloatTy());
  if (factor != 1) x = builder.CreateFMul(x, llvm::ConstantFP::get(x->getType(), factor));
  Value* power = builder.CreateUnaryIntrinsic(llvm::Intrinsic::exp2, x);
  builder.CreateRet(builder.CreateFPCast(power, function.getReturnType()));
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
  constexpr float coefficients[] = {0x1.eaa9a2p-10f, 0x1.27426cp-7f, 0x1.c91e74p-5f,
                                    0x1.ebdc0ep-3f,  0x1.62e4b2p-1f, 1.0f};
  Value* const fraction = in_all_lanes(
      builder, {x86_avx512_mask_reduce_ps_128, x86_avx512_mask_reduce_ps_256, x86_avx512_mask_reduce_ps_512}, x,
      builder.getInt32(floor | no_exceptions));
  const auto number = [&](float coefficient) { return llvm::ConstantFP::get(x->getType(), coefficient); };
  Value* power = number(coefficients[0]);
  for (float coefficient : llvm::drop_begin(coefficients))
    power = builder.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {power, fraction, number(coefficient)});
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

Value* exp2_of(Builder& builder, Value* x) {
  if (x->getType()->isVectorTy()) return exp2_of_vector(builder, x);
  auto* const one_lane = llvm::FixedVectorType::get(x->getType(), 1);
  Value* const power = exp2_of_vector(builder, builder.CreateBitCast(x, one_lane));
  return builder.CreateBitCast(power, x->getType());
}

}  // namespace

void use_exponential_instructions(llvm::Module& module, const llvm::Function& kernel) {
  if (!vector::has_feature(kernel, "avx512dq") || !vector::has_feature(kernel, "avx512vl")) return;
  for (const Exponential& exponential : exponentials)
    if (llvm::Function* function = module.getFunction(exponential.symbol)) replace_body(*function, exponential.factor);
}

void expand_exponentials(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (function.getIntrinsicID() != llvm::Intrinsic::exp2) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      Builder builder(call);
      call->replaceAllUsesWith(exp2_of(builder, call->getArgOperand(0)));
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

}  // namespace metalloid::cpu::lower
