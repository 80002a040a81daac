// The elements of a vector in an order that another vector gives.
#pragma once

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// In each lane the value of lane `source` of its group; `value` has integers, `source` is <width x i32> and counts from
// the group's first lane. Lanes whose source is not in the group get any value. Constant sources make one shuffle.
llvm::Value* permute(const Emission& emission, llvm::Value* value, llvm::Value* source);
llvm::Value* permute_in_quads(const Emission& emission, llvm::Value* value, llvm::Value* source);

}  // namespace metalloid::cpu::vector
