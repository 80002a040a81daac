// Extends indices before the arithmetic that makes them, not after it.
//
// LLVM marks arithmetic that does not wrap around (nuw, nsw, disjoint, nneg). A mark speaks of the lanes that use the
// result: passes hoist what a branch guards, mark and all. A shape is counted from lane 0, which may have no use for it
// and wrap around:
//
//     if (i >= 5) x = p[i - 5];      zext (sub nuw i, 5)         lane 0: 2^32 - 5, lane 5: 0
//     so it becomes                  sub (zext i), 5             lane 0: -5,       lane 5: 0
//
// where the steps between lanes are the same whatever the marks are worth. No shape rests on one.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// What has no bits in common is added, which shapes can follow.
void add_what_is_disjoint(llvm::Function& function);

// True: something changed, and shapes are to be found again. Then there may be more to do.
bool extend_early(llvm::Function& function, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
