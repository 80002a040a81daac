// Simdgroup matrices that a loop loads from a buffer, a few rows further down in each iteration, are asked for an
// iteration ahead. Rows may be far apart: processors do not foresee such steps, and a core would have nothing to
// multiply while it waits.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

void fetch_tiles(llvm::Function& lane_form);

}  // namespace metalloid::cpu::vector
