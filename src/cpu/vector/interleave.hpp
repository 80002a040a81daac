// Structures in memory and scalars in lanes: n scalars of each lane side by side, and one vector of lanes for each of
// the n. n is a power of two, and it takes a shuffle for each vector and each time n can be halved.
#pragma once

#include <llvm/IR/IRBuilder.h>

namespace metalloid::cpu::vector {

using Vectors = llvm::SmallVector<llvm::Value*, 8>;

// n vectors that follow one another in memory → the first scalar of each lane, the second, ...
Vectors deinterleave(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> in_memory);
// and back.
Vectors interleave(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> in_lanes);

}  // namespace metalloid::cpu::vector
