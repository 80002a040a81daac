// What becomes of llvm.exp2, by which fast functions raise 2 to powers (exp2_short in src/builtins/exponential.hpp).
#pragma once

#include <llvm/IR/Module.h>

namespace metalloid::cpu::lower {

// AVX-512 has instructions for the two ends of it, x - floor(x) and y * 2^floor(x), which leave the limits of a float's
// range to the processor. They are for vectors: until lanes are together it stays what it is.
bool has_exponential_instructions(const llvm::Function& kernel);
void expand_exponentials_to_instructions(llvm::Module& module);

// Elsewhere it is an llvm.ldexp of a polynomial, in each lane by itself.
void expand_exponentials(llvm::Module& module);

}  // namespace metalloid::cpu::lower
