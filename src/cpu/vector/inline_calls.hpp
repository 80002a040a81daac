// Everything a kernel calls becomes part of it, so that it is widened with it. What cannot (recursion) or should not
// (textures' accesses, which are long) stays a call of one lane.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::vector {

void inline_calls(llvm::Module& module);

}  // namespace metalloid::cpu::vector
