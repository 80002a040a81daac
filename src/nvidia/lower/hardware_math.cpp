// The fast math builtins as the hardware has them, where that is within the errors of docs/builtins.md. All forms keep
// denormal numbers; their special values are the documented ones.
//
// | instruction | error | serves |
// |---|---|---|
// | ex2.approx | 2 ulp | exp, exp2, exp10: the error of a product grows with \|x\| as theirs may; pow, tanh |
// | lg2.approx | 2^-22 on [0.5, 2], 2 ulp outside | log, log2, log10 |
// | rsqrt.approx, sqrt.approx | 2 ulp, 1 ulp | rsqrt, sqrt |
// | div.full, rcp.approx | 2 ulp, 1 ulp | divide; 1 / y, of which more is asked |
// | sin.approx, cos.approx | 2^-20.5 on [-π, π] | sin, cos, after the nearest multiple of 2π is taken off |
//
// Of half, exponentials and logarithms have the same form: an error of 2^-22 is small beside half an ulp. tanh.approx
// is not exact enough, and precise functions are left to their bodies, which are instructions where there are any.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <numbers>

#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;
using Builder = llvm::IRBuilder<>;

constexpr double ln_2 = std::numbers::ln2, log2_e = std::numbers::log2e;
constexpr double log2_10 = std::numbers::ln10 / std::numbers::ln2, log10_2 = std::numbers::ln2 / std::numbers::ln10;

Value* number(Builder& builder, double value) {
  return llvm::ConstantFP::get(builder.getFloatTy(), value);
}

Value* instruction(Builder& builder, llvm::Intrinsic::ID id, Value* x) {
  return builder.CreateIntrinsic(id, {}, {x});
}

template <double Scale>
Value* exponential(Builder& builder, llvm::ArrayRef<Value*> operands) {
  Value* const x = Scale == 1 ? operands[0] : builder.CreateFMul(operands[0], number(builder, Scale));
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_ex2_approx, {builder.getFloatTy()}, {x});
}

template <double Scale>
Value* logarithm(Builder& builder, llvm::ArrayRef<Value*> operands) {
  Value* const result = instruction(builder, llvm::Intrinsic::nvvm_lg2_approx_f, operands[0]);
  return Scale == 1 ? result : builder.CreateFMul(result, number(builder, Scale));
}

template <llvm::Intrinsic::ID Instruction>
Value* root(Builder& builder, llvm::ArrayRef<Value*> operands) {
  return instruction(builder, Instruction, operands[0]);
}

// Which of the two is decided once the body is inlined and constants are known.
Value* quotient(Builder& builder, llvm::ArrayRef<Value*> operands) {
  Value *const x = operands[0], *const y = operands[1];
  Value* const is_constant = builder.CreateIntrinsic(llvm::Intrinsic::is_constant, {x->getType()}, {x});
  Value* const is_one = builder.CreateFCmpOEQ(x, number(builder, 1));
  Value* const is_reciprocal = builder.CreateAnd(is_constant, is_one);
  auto* const reciprocal = llvm::cast<llvm::Instruction>(builder.CreateFDiv(number(builder, 1), y));
  reciprocal->setHasApproxFunc(true);
  return builder.CreateSelect(is_reciprocal, reciprocal,
                              builder.CreateIntrinsic(llvm::Intrinsic::nvvm_div_full, {}, {x, y}));
}

// 2π in three parts, of which the first has 8 bits: its multiples are exact for |x| up to 2^17, and all that is left of
// x is in their difference.
template <llvm::Intrinsic::ID Instruction>
Value* circular(Builder& builder, llvm::ArrayRef<Value*> operands) {
  constexpr double high = 6.28125;
  constexpr float middle = 2 * std::numbers::pi - high;
  constexpr double low = 2 * std::numbers::pi - high - middle;
  Value* const x = operands[0];
  Value* const turns = builder.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven,
                                                    builder.CreateFMul(x, number(builder, 0.5 * std::numbers::inv_pi)));
  Value* const back = builder.CreateFNeg(turns);
  const auto fma = [&](double part, Value* sum) {
    return builder.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, {back, number(builder, part), sum});
  };
  return instruction(builder, Instruction, fma(low, fma(middle, fma(high, x))));
}

struct Replacement {
  llvm::StringLiteral symbol;
  Value* (*write)(Builder&, llvm::ArrayRef<Value*>);
};

constexpr Replacement replacements[] = {
    {"metal.fast_exp.f32", exponential<log2_e>},
    {"metal.fast_exp2.f32", exponential<1.0>},
    {"metal.fast_exp10.f32", exponential<log2_10>},
    {"metal.fast_log.f32", logarithm<ln_2>},
    {"metal.fast_log2.f32", logarithm<1.0>},
    {"metal.fast_log10.f32", logarithm<log10_2>},
    {"metal.fast_rsqrt.f32", root<llvm::Intrinsic::nvvm_rsqrt_approx_f>},
    {"metal.fast_sqrt.f32", root<llvm::Intrinsic::nvvm_sqrt_approx_f>},
    {"metal.fast_divide.f32", quotient},
    {"metal.fast_sin.f32", circular<llvm::Intrinsic::nvvm_sin_approx_f>},
    {"metal.fast_cos.f32", circular<llvm::Intrinsic::nvvm_cos_approx_f>},
    {"metal.exp.f16", exponential<log2_e>},
    {"metal.exp2.f16", exponential<1.0>},
    {"metal.exp10.f16", exponential<log2_10>},
    {"metal.log.f16", logarithm<ln_2>},
    {"metal.log2.f16", logarithm<1.0>},
    {"metal.log10.f16", logarithm<log10_2>},
};

void replace_body(llvm::Function& function, const Replacement& replacement) {
  function.deleteBody();
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setComdat(nullptr);
  Builder builder(llvm::BasicBlock::Create(function.getContext(), "", &function));
  llvm::SmallVector<Value*> operands;
  for (llvm::Argument& argument : function.args())
    operands.push_back(builder.CreateFPCast(&argument, builder.getFloatTy()));
  builder.CreateRet(builder.CreateFPCast(replacement.write(builder, operands), function.getReturnType()));
}

}  // namespace

void use_hardware_math(llvm::Module& module) {
  for (const Replacement& replacement : replacements)
    if (llvm::Function* function = module.getFunction(replacement.symbol)) replace_body(*function, replacement);
  if (llvm::Function* in_bodies = module.getFunction("llvm.exp2.f32"))
    in_bodies->replaceAllUsesWith(llvm::Intrinsic::getOrInsertDeclaration(
        &module, llvm::Intrinsic::nvvm_ex2_approx, {llvm::Type::getFloatTy(module.getContext())}));
}

}  // namespace metalloid::nvidia::lower
