// Where pointers come from: walks back through arithmetic, casts, phis and selects to the arguments and variables that
// a pointer may be based on.
#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

#include <span>

#include "cpu/validation/site_table.hpp"
#include "device/pipeline.hpp"

namespace metalloid::cpu::validation {

class Provenance {
 public:
  // `linked`: functions that are called from elsewhere, with whatever arguments.
  Provenance(const llvm::Function& kernel, std::span<llvm::Function* const> linked,
             std::span<const device::Slot> slots);

  // Without duplicates, in a fixed order.
  llvm::SmallVector<Root, 2> roots_of(const llvm::Value& pointer) const;

  // In the order of RootKind::threadgroup_variable's and constant_variable's indices.
  llvm::SmallVector<llvm::GlobalVariable*> threadgroup_variables, constant_variables;

 private:
  bool is_called_directly(const llvm::Argument& argument) const;
  Root root_of(const llvm::Value& base) const;

  const llvm::Function& kernel_;
  std::span<llvm::Function* const> linked_;
  std::span<const device::Slot> slots_;
  llvm::DenseMap<const llvm::GlobalVariable*, Root> variables_;
};

}  // namespace metalloid::cpu::validation
