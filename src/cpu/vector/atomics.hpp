// Atomic instructions in all lanes of a group: one after another, in lane order, or one for all where that is the same.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// load atomic, store atomic, atomicrmw, cmpxchg.
bool is_atomic_access(const llvm::Instruction& instruction);

// Whether what it gives is the same in all active lanes if its operands are.
bool atomic_gives_uniform(const llvm::Instruction& instruction);

// Loads and stores of threadgroup memory need not be atomic, because a threadgroup runs on one host thread; as plain
// ones they can become vector accesses. For after InsertTurns, which looks for atomic ones.
void make_threadgroup_accesses_plain(llvm::Function& function);

// What an atomic instruction of lane form gives, its operands in the instruction's order: its components, none for a
// store; of one that gives uniform, the one value.
Components emit_atomic(Emission emission, const llvm::Instruction& instruction, llvm::ArrayRef<Operand> operands);

}  // namespace metalloid::cpu::vector
