// A thread's own arrays have no neighbours on a GPU: they are in registers, or in memory where nothing else is. An
// index that is out of range there does no harm, and kernels that have one, in threads whose results nobody uses, work.
// On a stack it would overwrite what the compiler keeps beside the array. So the accesses that cannot be shown to be in
// range are checked: outside, a store is lost and a load gives zero.
//
//     a[i] = x   →   *(i < 8 ? &a[i] : &lost) = x
//
// The pass runs when loops are unrolled and small arrays are in registers, but not yet vectorised.
#pragma once

#include <llvm/IR/PassManager.h>

namespace metalloid::bitcode {

struct GuardPrivateArrays : llvm::PassInfoMixin<GuardPrivateArrays> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metalloid::bitcode
