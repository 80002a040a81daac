// Module to machine code: optimisation as a C++ compiler does it at -O2, then code generation.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <metalloid/result.hpp>
#include <string>

namespace metalloid::cpu {

// The module is compiled for the host: triple, data layout, and the attributes that make every function one of it.
void retarget(llvm::Module& module, const llvm::TargetMachine& machine);

void optimise(llvm::Module& module, llvm::TargetMachine& machine);

// An object file in memory.
Result<std::string> generate_code(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace metalloid::cpu
