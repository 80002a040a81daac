// Products of simdgroup matrices that do not depend on each other stand side by side, so that they can be made together
// (matrices.cpp):
//
//     s0 = a * b0 + t0                          v = {t1.x, t1.y}
//     v = {t1.x, t1.y}                     →    s0 = a * b0 + t0
//     s1 = a * b1 + v                           s1 = a * b1 + v
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::cpu::vector {

void join_products(llvm::Function& lane_form);

// A product and those right behind it that do not need what it or another of them gives, `most` in all.
llvm::SmallVector<llvm::CallInst*, 4> products_side_by_side(llvm::CallInst& first, unsigned most);

}  // namespace metalloid::cpu::vector
