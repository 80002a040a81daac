// Counters in threadgroup memory, as of a histogram, become several that are added up when they are read. Lanes that
// count the same thing one after the other wait for each other's sums otherwise, and processors that do not foresee it
// start over.
//
//     threadgroup uint bins[256];   →   threadgroup uint bins[4][256];
//     bins[i] += x                  →   bins[lane % 4][i] += x
//     bins[i] = x                   →   bins[0][i] = x, bins[1][i] = 0, ...
//     x = bins[i]                   →   x = bins[0][i] + bins[1][i] + ...
#pragma once

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

namespace metalloid::cpu::vector {

// For before threadgroup variables are placed. Code that leaves additions where they are, in the first part, is right
// as well: so is what runs one thread at a time.
void split_counters(llvm::Module& module);

constexpr unsigned parts_of_counter = 4;

// How many bytes the parts of what it adds to are apart. 0: there is one part.
uint64_t distance_of_parts(const llvm::Instruction& addition);

}  // namespace metalloid::cpu::vector
