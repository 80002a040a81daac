// Divisions of what counts from lane to lane, decided once for a group. A kernel that begins with
//
//     const uint row = i / columns, column = i % columns;
//     if (row >= rows) return;
//
// has all lanes of most groups in one row. There is a copy of what follows for groups where that is so: the row is the
// same in all of their lanes, and columns follow each other. Lanes of other groups divide for themselves.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any; then the form that the widener expects of returns and loops is lost.
bool split_divisions(llvm::Function& function, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes,
                     unsigned width);

}  // namespace metalloid::cpu::vector
