// The elements of a vector in an order that another vector gives.
#pragma once

#include <optional>

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// In each lane the value of lane `source` of its group; `value` has integers, `source` is <width x i32> and counts from
// the group's first lane. Lanes whose source is not in the group get any value. Constant sources make one shuffle.
llvm::Value* permute(const Emission& emission, llvm::Value* value, llvm::Value* source);
llvm::Value* permute_in_quads(const Emission& emission, llvm::Value* value, llvm::Value* source);

// The size of a table that has room for so many words, if the processor looks them up faster than memory; the words
// that lanes want of it, by the low bits of their indices, <width x i32>.
std::optional<unsigned> lookup_size(const llvm::Function& function, uint64_t count);
llvm::Value* look_up(const Emission& emission, llvm::Value* table, llvm::Value* indices);

}  // namespace metalloid::cpu::vector
