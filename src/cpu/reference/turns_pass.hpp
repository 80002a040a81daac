// Threads of a threadgroup take turns: a loop that may wait for another thread, because it reads memory that others
// write (an atomic or volatile access in it), gives way to them at its back edge from time to time.
//
// A loop that counts something itself ends some day and is only slow; one whose state comes from memory alone may wait
// for a thread that waits for this one in a SIMD-group function. The engine is told which it is.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::reference {

void insert_turns(llvm::Module& module);

}  // namespace metalloid::cpu::reference
