// Passes over lane form, in the order they run. None changes what a lane does.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::cpu::vector {

// memcpy, memmove and memset of known sizes become loads and stores of elements; of sizes that only run time knows,
// loops.
struct ExpandMemoryIntrinsics : llvm::PassInfoMixin<ExpandMemoryIntrinsics> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// bfloat values become i16 and are computed as float: processors have no arithmetic for them, and LLVM would make
// calls.
struct LowerBfloat : llvm::PassInfoMixin<LowerBfloat> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// A lane's own arrays become parts of arrays of all lanes, laid out so that lanes that access the same element access
// neighbours. Accesses out of range are harmless: a store is lost, a load gives zero.
struct SpreadPrivateArrays : llvm::PassInfoMixin<SpreadPrivateArrays> {
  explicit SpreadPrivateArrays(unsigned width) : width(width) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
  unsigned width;
};

// Loops that wait for memory to change let other groups of the threadgroup run.
struct InsertTurns : llvm::PassInfoMixin<InsertTurns> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// After widening: what few lanes scatter, if it is known which, is stored as scalars.
struct StoreFewLanes : llvm::PassInfoMixin<StoreFewLanes> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// After widening: masks are vectors of words where the processor has no registers for bits.
struct WidenMasks : llvm::PassInfoMixin<WidenMasks> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

// After widening: accesses longer than a register become one for each register, in the order of their addresses.
struct OrderAccesses : llvm::PassInfoMixin<OrderAccesses> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metalloid::cpu::vector
