#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/PassManager.h>

namespace metalloid::nvidia::lower {

// Accesses of neighbouring elements of device memory become one where addresses are found to allow it; after
// optimisation, which would join the two versions of the code again.
void widen_accesses(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

}  // namespace metalloid::nvidia::lower
