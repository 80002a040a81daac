// bfloat as the upper half of a float: conversions of scalars and vectors without LLVM's own, which are calls on most
// processors. A bfloat may have the type bfloat or i16.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace metalloid::cpu::vector {

inline llvm::Value* bfloat_to_float(llvm::IRBuilderBase& builder, llvm::Value* value) {
  llvm::Type* const bits = value->getType()->getWithNewType(builder.getInt16Ty());
  llvm::Type* const wide = value->getType()->getWithNewType(builder.getInt32Ty());
  llvm::Value* const upper = builder.CreateShl(builder.CreateZExt(builder.CreateBitCast(value, bits), wide), 16);
  return builder.CreateBitCast(upper, value->getType()->getWithNewType(builder.getFloatTy()));
}

// To nearest, ties to even; a NaN stays one.
inline llvm::Value* float_to_bfloat(llvm::IRBuilderBase& builder, llvm::Value* value, llvm::Type* result) {
  llvm::Value* const bits = builder.CreateBitCast(value, value->getType()->getWithNewType(builder.getInt32Ty()));
  const auto number = [&](uint32_t n) { return llvm::ConstantInt::get(bits->getType(), n); };
  llvm::Value* const odd = builder.CreateAnd(builder.CreateLShr(bits, 16), number(1));
  llvm::Value* const rounded = builder.CreateAdd(bits, builder.CreateAdd(odd, number(0x7FFF)));
  llvm::Value* const quiet = builder.CreateOr(bits, number(0x400000));
  llvm::Value* const wide = builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
  llvm::Type* const narrow = value->getType()->getWithNewType(builder.getInt16Ty());
  return builder.CreateBitCast(builder.CreateTrunc(builder.CreateLShr(wide, 16), narrow), result);
}

}  // namespace metalloid::cpu::vector
