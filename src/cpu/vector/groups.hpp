// Functions that the lanes of a group call together: SIMD-group and quad-group functions and simdgroup matrices, as
// vector code.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// metal.simd_*, metal.quad_*, metal.simdgroup_load, _store and _multiply_accumulate; not the barriers.
bool is_group_function(llvm::StringRef name);

// Of these, functions of simdgroup matrices.
bool is_matrix_function(llvm::StringRef name);

// Of these, products of simdgroup matrices.
bool is_matrix_product(llvm::StringRef name);

// Whether groups of fewer than 32 lanes can call it: what happens inside quads.
bool works_in_quads(llvm::StringRef name);

// Whether its result is the same in all active lanes, given which operands are.
bool gives_uniform(llvm::StringRef name, llvm::ArrayRef<bool> operand_is_uniform);

// What a call of `function` in lane form gives: its components; of one that gives_uniform, the one value.
Components emit_group_call(Emission emission, const llvm::Function& function, llvm::ArrayRef<Operand> operands);

// The same for products that do not depend on each other, in one go.
struct MatrixProduct {
  const llvm::Function* function;
  llvm::SmallVector<Operand, 3> operands;
};
std::vector<Components> emit_matrix_products(Emission emission, llvm::ArrayRef<MatrixProduct> products);

// Between matrices in lanes and rows of several side by side (matrix_rows.hpp): a row; a matrix of all eight rows.
llvm::Value* emit_row_of_matrices(const Emission& emission, unsigned row, llvm::ArrayRef<Components> matrices);
Components emit_matrix_of_rows(const Emission& emission, unsigned number, llvm::ArrayRef<llvm::Value*> rows);

}  // namespace metalloid::cpu::vector
