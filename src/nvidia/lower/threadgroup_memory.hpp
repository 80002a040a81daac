// Threadgroup variables on a GPU: its shared memory has no initial values, so the entry writes those that the source
// gives. Of memory that a module asks for the hardware gives 48 KB; of memory whose size a launch says, all it has.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::nvidia::lower {

// Memory of a threadgroup whose size a launch says.
llvm::GlobalVariable* dynamic_threadgroup_memory(llvm::Module& module);

// Before anything else of the entry's own code runs, variables have their initial values.
void initialise_threadgroup_variables(llvm::Function& entry);

// What the variables of the module take, in bytes.
uint32_t size_of_threadgroup_variables(const llvm::Module& module);

// Variables that are more than a module may have become the beginning of the memory whose size a launch says, and what
// was there follows them. Whether they are.
bool make_large_variables_dynamic(llvm::Module& module);

}  // namespace metalloid::nvidia::lower
