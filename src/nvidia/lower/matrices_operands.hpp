// Operands of matrix products in the registers that the tensor cores take them from.
//
// A lane g * 4 + t of an m16n8 instruction has, of the left operand, elements of row g and columns of t; of the right
// one, elements of column g and rows of t. Which columns these are in memory is the same to the sum, as long as both
// operands agree: the two that the lane has of an 8×8 matrix, 2t and 2t + 1, are as good as t and t + 4. So left
// operands are there already, and right ones are transposed.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include <array>
#include <utility>

namespace metalloid::nvidia::lower {

// What both operands of a product are exactly, the narrowest of: half, bfloat, the 19 bits of TF32, float.
enum class Precision { half, bfloat, tf32, single };

// A float matrix may be one of halves, made wider: its precision is that of what it was made from.
Precision precision_of(llvm::Value* matrix);

// The registers of two numbers: one of two halves or bfloats, or two of TF32, with the rests that were rounded off if
// there are any.
struct Registers {
  std::array<llvm::Value*, 2> main = {}, rest = {};
};

// Conversions of a block's operands, each made once and right behind its operand, for all products that use it.
class Operands {
 public:
  // `builder` tells where it has inserted what, which is the owner's business.
  Operands(llvm::IRBuilderBase& builder, llvm::BasicBlock& block) : builder_(builder), block_(block) {}

  Registers left(llvm::Value* matrix, Precision form) { return get(matrix, form, /*transposed=*/false); }
  Registers right(llvm::Value* matrix, Precision form) { return get(matrix, form, /*transposed=*/true); }

  // Where code that uses a value can be, at the earliest in the block.
  static llvm::Instruction* behind(llvm::Value* value, llvm::BasicBlock& block);

 private:
  using Key = std::pair<llvm::Value*, int>;  // the form, and whether it is transposed

  Registers get(llvm::Value* matrix, Precision form, bool transposed);
  llvm::Value* packed(llvm::Value* matrix, Precision form);
  std::array<llvm::Value*, 2> transposed_words(std::array<llvm::Value*, 2> words);

  llvm::IRBuilderBase& builder_;
  llvm::BasicBlock& block_;
  llvm::DenseMap<Key, Registers> made_;
};

// Elements as floats, and back.
std::array<llvm::Value*, 2> float_elements(llvm::IRBuilderBase& builder, llvm::Value* matrix);
llvm::Value* matrix_of(llvm::IRBuilderBase& builder, std::array<llvm::Value*, 2> elements, llvm::Type* type);

}  // namespace metalloid::nvidia::lower
