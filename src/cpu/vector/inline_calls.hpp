// Everything a kernel calls becomes part of it, so that it is widened with it. What cannot (recursion) or should not
// (textures' accesses and functions of which there would be too much code) stays a call of one lane.
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::vector {

void inline_calls(llvm::Module& module);

}  // namespace metalloid::cpu::vector
