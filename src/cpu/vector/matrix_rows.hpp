// Sums of products of simdgroup matrices as rows of numbers. In
//
//     for (k …) { a = simdgroup_load(…); b, c = …; s = a * b + s; t = a * c + t; }
//
// nobody looks at the elements of `s` and `t` that each lane has, until the loop is over. So they need not be spread
// over lanes: row r of both, side by side, is one vector, the same in all lanes, to which row k of `b` and `c` times
// the number a[r][k] is added for each k. Numbers and rows come from where the matrices were loaded from, and nothing
// has to be shuffled: of matrices in lanes, two spread rows and two spread columns are shuffled for every k.
//
// The numbers of a sum are added in the order in which matrices in lanes add them, and are the same.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Pseudo-functions of lane form between the two, which the widener knows. Their names go on with what tells types
// apart.
//
//     <8n x float> row_of_matrices(i32 row, <2 x float> …)            row `row` of n matrices, side by side
//     <2 x float> matrix_of_rows(i32 number, <8n x float> …)          of eight such rows, matrix `number`
//     ptr of_lane_0(ptr)                                              what a value is in lane 0
constexpr llvm::StringLiteral rows_name = "metalloid.row_of_matrices.";
constexpr llvm::StringLiteral matrix_name = "metalloid.matrix_of_rows.";
constexpr llvm::StringLiteral lane_0_name = "metalloid.of_lane_0.";

bool is_row_function(llvm::StringRef name);
llvm::FunctionCallee row_function(llvm::Module& module, const llvm::Twine& name, llvm::Type* result,
                                  llvm::ArrayRef<llvm::Type*> parameters);

// For groups of 32 lanes that are all there. Whether there were any such sums; then values have changed.
bool sum_in_rows(llvm::Function& lane_form, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
