// Whether lanes of a group may wait for one another. Lanes that leave a loop wait behind it for those that are still in
// it; if these in turn wait for something that the others do afterwards, as with a lock that each lane takes,
//
//     while (atomic_exchange_explicit(lock, 1, memory_order_relaxed) != 0) {}
//
// nobody goes on. Nor does anybody if lanes on one side of a branch wait for what those on the other side do, which may
// come second:
//
//     if (lane == 0) while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}
//     else atomic_store_explicit(flag, 1, memory_order_relaxed);
//
// Threads of such kernels run each for itself.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

// A read of memory that decides how long lanes stay in a loop that they leave at different times, or that others, which
// went another way, may write for; null if there is none.
const llvm::Instruction* find_waiting(const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators,
                                      const ShapeAnalysis& shapes);

// Whether an exchange expects what was found in memory: trying it again is not waiting, one lane after the other
// succeeds.
bool tries_again(const llvm::AtomicCmpXchgInst& exchange, const llvm::Loop& loop);

}  // namespace metalloid::cpu::vector
