// Loads before stores. In
//
//     for (uint j = 0; j < 4; ++j) out[4 * i + j] = f(in[4 * i + j]);
//
// once it is unrolled, a lane's loads are neighbours, and so are its stores, but between two loads is a store that
// might change what the second one reads. For a lane it does not, unless `in` and `out` are some bytes apart; what
// other lanes do there meanwhile is unknown in any case. So the loads come first, and a group in which a lane has them
// so near, which hardly any has, starts again, or has the block in a copy as it was written. Threadgroup memory is left
// alone: kernels expect lanes of a SIMD-group to see there what others stored just before.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether there were any; then the form that the widener expects of returns is lost.
bool loads_first(llvm::Function& function, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
