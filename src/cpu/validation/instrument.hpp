// Makes the code of a kernel ask shader validation before it touches memory that other threads can see:
//
//     %x = load float, ptr addrspace(1) %p   →   %q = metalloid.validate(%p, 4 bytes, site 7, no value)
//                                                %x = load float, ptr addrspace(1) %q
//
// The answer is the pointer itself or, if the access is not allowed, one to memory that does no harm: reads give zeros
// and writes go nowhere, so that a kernel goes on as it does on a Mac. Barriers, fences and loops say where a thread
// is. The pass runs on the module as the library has it, when arguments are still parameters; builtins' bodies (which
// look after themselves) and private memory are left alone.
#pragma once

#include <llvm/IR/Module.h>

#include <span>

#include "cpu/validation/site_table_builder.hpp"

namespace metalloid::cpu::validation {

void instrument(llvm::Function& kernel, std::span<llvm::Function* const> linked, SiteTableBuilder& sites);

}  // namespace metalloid::cpu::validation
