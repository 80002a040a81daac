// Kernels that would be far too much code with all that they call inlined, or take far too long to be simplified
// afterwards: large numbers' inverses in a product of curves' points, say, come to millions of instructions. Calls are
// inlined from the innermost outwards there, and simplified on the way, so that what is called from many places is
// simplified once. Where the result is still too long, functions that are long and called from several places stay
// functions, which threads call by themselves. None that threads take part in together is among them, nor any that waits
// for others: those with functions of SIMD-groups, barriers, or accesses that are atomic or volatile.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::msl {

// Other kernels are left as they are.
void inline_if_long(llvm::Function& kernel);

}  // namespace metalloid::msl
