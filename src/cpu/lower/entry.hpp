// The entry of a pipeline: `void metalloid.entry(ThreadState*)` loads what the kernel's parameters stand for, from the
// slots of the dispatch and from the thread's state, and goes on with the kernel's code, which moves there.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

#include "device/pipeline.hpp"

namespace metalloid::cpu::lower {

void make_entry(llvm::Function& kernel, const Function& reflection, std::span<const device::Slot> slots);

}  // namespace metalloid::cpu::lower
