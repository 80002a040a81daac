// Atomic instructions in all lanes of a group: one after another, in lane order, or one for all where that is the same.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include <optional>

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// load atomic, store atomic, atomicrmw, cmpxchg.
bool is_atomic_access(const llvm::Instruction& instruction);

// Whether what it gives is the same in all active lanes if its operands are.
bool atomic_gives_uniform(const llvm::Instruction& instruction);

// Loads and stores of threadgroup memory need not be atomic, because a threadgroup runs on one host thread; as plain
// ones they can become vector accesses. For after InsertTurns, which looks for atomic ones.
void make_threadgroup_accesses_plain(llvm::Function& function);

// Where lanes find their elements of an array, by indices that are narrower than pointers.
struct Places {
  llvm::Value* array;
  llvm::Value* indices;  // <width x iN>
  bool are_signed;
  uint64_t stride;  // in bytes
};

// What an atomic instruction of lane form gives, its operands in the instruction's order: its components, none for a
// store; of one that gives uniform, the one value. `places` say the same as its pointers, which are vectors.
Components emit_atomic(Emission emission, const llvm::Instruction& instruction, llvm::ArrayRef<Operand> operands,
                       const std::optional<Places>& places = std::nullopt);

}  // namespace metalloid::cpu::vector
