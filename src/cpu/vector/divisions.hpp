// Integer divisions of what counts from lane to lane: lanes that are fewer than the divisor have the same quotient,
// unless a multiple of it is among them. Guards rest on that (guards.cpp), and copies of a kernel do
// (split_divisions.cpp).
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/Instruction.h>

namespace metalloid::cpu::vector {

inline bool is_signed_division(const llvm::Instruction& division) {
  return division.getOpcode() == llvm::Instruction::SDiv || division.getOpcode() == llvm::Instruction::SRem;
}

inline bool is_remainder(const llvm::Instruction& division) {
  return division.getOpcode() == llvm::Instruction::URem || division.getOpcode() == llvm::Instruction::SRem;
}

// Whether a group that goes so far from its first lane to its last is likely to have one quotient: as far as is known.
inline bool is_worth_asking(const llvm::Value* divisor, uint64_t furthest) {
  constexpr uint64_t times = 4;
  const auto* known = llvm::dyn_cast<llvm::ConstantInt>(divisor);
  return !known || (!known->isNegative() && known->getLimitedValue() >= times * furthest);
}

}  // namespace metalloid::cpu::vector
