// The vocabulary of code that is made for all lanes of a group at once.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace metalloid::cpu::vector {

// A value of lane form in all lanes: a vector <width x T> for each scalar T of its type. A float has one, a <2 x half>
// two, a {i32, i1} two.
using Components = llvm::SmallVector<llvm::Value*, 2>;

struct Operand {
  llvm::Value* uniform = nullptr;  // its value, of its own type, if it is the same in all lanes
  Components lanes;                // always there
};

// Where code is made, and for which lanes.
struct Emission {
  llvm::IRBuilder<>& builder;
  unsigned width;
  llvm::Value* active = nullptr;  // <width x i1>; null: all

  llvm::FixedVectorType* vector_of(llvm::Type* scalar) const { return llvm::FixedVectorType::get(scalar, width); }
  llvm::Value* splat(llvm::Value* scalar) const { return builder.CreateVectorSplat(width, scalar); }

  // The active lanes as <width x i1>, and as bits of an integer of `width` bits.
  llvm::Value* mask() const {
    return active ? active : llvm::Constant::getAllOnesValue(vector_of(builder.getInt1Ty()));
  }
  llvm::Value* mask_bits() const { return builder.CreateBitCast(mask(), builder.getIntNTy(width)); }
};

}  // namespace metalloid::cpu::vector
