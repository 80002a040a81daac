// Calls in which the lanes of a SIMD-group, or the threads of a threadgroup, take part together become calls of the
// engine that say where the thread is:
//
//     %r = call float @metal.simd_sum.f32(float %x)
//
// stores %x in a struct of operands, the thread's key in its state, and calls metalloid.meet with the number of levels
// of the key and the function's Combine. Lanes take part in the same call if and only if their keys are equal.
//
// A key has a level for each loop around the call, outermost first (the loop's number, its iteration), and one for the
// call (its number). Numbers grow in reverse post-order, so of two lanes in the same iteration of the same loops the
// one with the lower number can still reach the other's place, and not the other way round. A call of a function that
// was not inlined is a level as well, on which that function's own levels stand. No two functions of a module share a
// number: lanes that call different functions through the same pointer do not meet in them.
//
// The pass runs before optimisation: from here on a key is data, and no later pass can change who meets whom.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::reference {

void lower_meetings(llvm::Module& module);

}  // namespace metalloid::cpu::reference
