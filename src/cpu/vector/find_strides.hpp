// What keeps the lanes of a kernel apart that a dispatch will know: the strides (cpu/small_strides.hpp) of accesses
// whose lanes are as far from each other as a number among the arguments says.
#pragma once

#include <llvm/IR/Function.h>

#include <vector>

#include "cpu/small_strides.hpp"

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// Whether lanes of a load or store are all apart, by a number that is known at run time only.
bool has_stride(const llvm::Instruction& access, const ShapeAnalysis& shapes);

// Of all such accesses; none if there are no such, or one that no argument says.
std::vector<Stride> find_strides(const llvm::Function& lane_form, const ShapeAnalysis& shapes);

}  // namespace metalloid::cpu::vector
