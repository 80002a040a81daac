// Lanes take part in a SIMD-group function together if they are at the same call in the same iteration of every loop
// around it. Devices find loops in the control flow, where a loop consists of what leads back to its start; code that
// ends in `break` or `return` does not, nor, once it is optimised, code after which the loop's condition no longer
// holds. It would stand behind the loop, where lanes meet that left in different iterations:
//
//   while (true) { if (simd_broadcast_first(x) == x) { s = simd_sum(y); break; } }
//
// So the body of such a loop gets an end that iterations come to whether they are the last or not: a variable with a
// clean-up, which is a SIMD-group barrier that orders no memory. No optimisation copies it or goes around it, so what
// stands before it stays in the loop.
#pragma once

#include "msl/reachable.hpp"

namespace metalloid::msl {

// Adds the clean-up to `reachable` if one of its functions needs it. A body that has its end already is left alone.
void end_iterations(clang::ASTContext& context, Reachable& reachable);

}  // namespace metalloid::msl
