// Fast exponentials on processors with AVX-512, whose instructions for the two ends of 2^x leave the limits of a
// float's range to the processor: x - floor(x), and y * 2^floor(x).
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::lower {

// Makes llvm.exp2 of the fast exponentials, whose bodies have not been inlined yet, if the processor that the kernel is
// compiled for has the instructions: an operation of one lane, which is widened as others are.
void use_exponential_instructions(llvm::Module& module, const llvm::Function& kernel);

// What becomes of llvm.exp2 in the end, of any number of lanes.
void expand_exponentials(llvm::Module& module);

}  // namespace metalloid::cpu::lower
