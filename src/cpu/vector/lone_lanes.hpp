// Loops that one lane runs while the others wait are the code of a thread: a function, which that lane calls.
//
//     if (thread == 0)                          if (thread == 0)
//       for (i = 0; i < n; ++i) sum += a[i];  →   metalloid.lone_lane(a, n, &sum);
//
// Widened, they would be vectors of which one element counts, and their arrays would be those of all lanes.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

bool is_lone_lane(const llvm::Function& function);

// Before private arrays are spread. The functions, which take the place of blocks of lane form, are yet to be
// optimised. False: there are none.
bool move_lone_lanes(llvm::Function& lane_form, unsigned width);

}  // namespace metalloid::cpu::vector
