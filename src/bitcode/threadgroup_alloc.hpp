// Threadgroup arrays whose size depends on function constants: each call of metal.threadgroup_alloc, its operands
// constant by now, becomes a threadgroup variable like those with a size in the source.
#pragma once

#include <llvm/IR/Module.h>

#include <metalloid/result.hpp>
#include <string>

namespace metalloid::bitcode {

Status resolve_threadgroup_alloc(llvm::Module& module, const std::string& function);

}  // namespace metalloid::bitcode
