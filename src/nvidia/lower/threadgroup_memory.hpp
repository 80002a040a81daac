// Threadgroup variables on a GPU: its shared memory has no initial values, so the entry writes those that the source
// gives.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::nvidia::lower {

// Before anything else of the entry's own code runs, variables have their initial values.
void initialise_threadgroup_variables(llvm::Function& entry);

// What the variables of the module take, in bytes.
uint32_t size_of_threadgroup_variables(const llvm::Module& module);

}  // namespace metalloid::nvidia::lower
