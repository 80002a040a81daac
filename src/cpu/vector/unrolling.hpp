// Which loops are unrolled whole before widening. What a lane accesses in one iteration after the other often lies side
// by side, and can be accessed at once only if the iterations stand side by side too; so loops whose number of
// iterations is known are unrolled more readily than LLVM would.
//
// Loops that the source wants unrolled are, but not without end: kernels ask for it in loops around loops around calls,
// and what all of that comes to takes seconds to compile, fits no cache, and its values no registers. Past a limit the
// outer loops stay loops.
#pragma once

#include <llvm/IR/PassManager.h>

namespace metalloid::cpu::vector {

struct RequestUnrolling : llvm::PassInfoMixin<RequestUnrolling> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace metalloid::cpu::vector
