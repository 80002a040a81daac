// Loads from small tables of constants. Their numbers are in registers, and lanes take theirs by a permutation.
#pragma once

#include <llvm/IR/Instructions.h>

#include <optional>

namespace metalloid::cpu::vector {

struct TableLoad {
  llvm::Constant* table;  // <8, 16 or 32 x i32>: the numbers' bits, and zeros behind them
  llvm::Value* index;     // an integer of the lane's; the number's place is so much further, modulo the table's size
  uint64_t first;
};

// None if it is no such load, or if the processor has no fast permutation of so many numbers.
std::optional<TableLoad> table_load(const llvm::LoadInst& load, const llvm::DataLayout& layout);

}  // namespace metalloid::cpu::vector
