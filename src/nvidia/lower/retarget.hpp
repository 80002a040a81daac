// A module of a library as a module for NVIDIA's GPUs. Their address spaces are device memory 1, threadgroup ("shared")
// memory 3 and generic 0; what Metal calls constant lies in device memory and does not change while a kernel runs.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>

#include "bitcode/prepare.hpp"

namespace metalloid::nvidia::lower {

// The same functions in a new module of the same context, for the machine; the old one is of no use afterwards.
bitcode::Prepared retarget(bitcode::Prepared prepared, const llvm::TargetMachine& machine);

}  // namespace metalloid::nvidia::lower
