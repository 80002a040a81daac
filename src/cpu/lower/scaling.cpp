#include "cpu/lower/scaling.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

namespace metalloid::cpu::lower {

namespace {

// 2^n as a float, n being a normal exponent.
llvm::Value* power_of_two(llvm::IRBuilder<>& builder, llvm::Value* n) {
  constexpr uint32_t bias = 127, mantissa_bits = 23;
  llvm::Value* bits = builder.CreateShl(builder.CreateAdd(n, builder.getInt32(bias)), mantissa_bits);
  return builder.CreateBitCast(bits, builder.getFloatTy());
}

}  // namespace

void expand_scaling(llvm::Module& module) {
  llvm::Function* scaling = module.getFunction("llvm.ldexp.f32.i32");
  if (!scaling) return;
  for (llvm::User* user : llvm::make_early_inc_range(scaling->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    llvm::IRBuilder<> builder(call);
    llvm::Value* power = call->getArgOperand(1);
    llvm::Value* half = builder.CreateAShr(power, 1);
    llvm::Value* product = builder.CreateFMul(call->getArgOperand(0), power_of_two(builder, half));
    call->replaceAllUsesWith(builder.CreateFMul(product, power_of_two(builder, builder.CreateSub(power, half))));
    call->eraseFromParent();
  }
  scaling->eraseFromParent();
}

}  // namespace metalloid::cpu::lower
