#include "cpu/validation/provenance.hpp"

#include <llvm/ADT/SetVector.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Operator.h>

#include <algorithm>

#include "bitcode/address_spaces.hpp"

namespace metalloid::cpu::validation {

Provenance::Provenance(const llvm::Function& kernel, std::span<llvm::Function* const> linked,
                       std::span<const device::Slot> slots)
    : kernel_(kernel), linked_(linked), slots_(slots) {
  for (const llvm::GlobalVariable& global : kernel.getParent()->globals()) {
    auto& variable = const_cast<llvm::GlobalVariable&>(global);
    const bool is_threadgroup = variable.getAddressSpace() == bitcode::threadgroup_address_space;
    auto& variables = is_threadgroup ? threadgroup_variables : constant_variables;
    if (!is_threadgroup && (!variable.hasInitializer() || variable.getName().starts_with("llvm."))) continue;
    variables_[&variable] = {is_threadgroup ? RootKind::threadgroup_variable : RootKind::constant_variable,
                             static_cast<uint32_t>(variables.size())};
    variables.push_back(&variable);
  }
}

llvm::SmallVector<Root, 2> Provenance::roots_of(const llvm::Value& pointer) const {
  llvm::SmallSetVector<const llvm::Value*, 8> visited;
  llvm::SmallVector<Root, 2> roots;
  visited.insert(&pointer);
  for (size_t next = 0; next < visited.size(); ++next) {
    const llvm::Value* value = visited[next];
    const auto* operation = llvm::dyn_cast<llvm::Operator>(value);
    switch (operation ? operation->getOpcode() : 0) {
      case llvm::Instruction::GetElementPtr:
      case llvm::Instruction::BitCast:
      case llvm::Instruction::AddrSpaceCast:
      case llvm::Instruction::Freeze:
        visited.insert(operation->getOperand(0));
        continue;
      case llvm::Instruction::Select:
        visited.insert(operation->getOperand(1));
        visited.insert(operation->getOperand(2));
        continue;
      case llvm::Instruction::PHI:
        for (const llvm::Value* incoming : operation->operand_values()) visited.insert(incoming);
        continue;
      default:
        break;
    }
    if (const auto* argument = llvm::dyn_cast<llvm::Argument>(value); argument && is_called_directly(*argument)) {
      for (const llvm::User* call : argument->getParent()->users())
        visited.insert(llvm::cast<llvm::CallBase>(call)->getArgOperand(argument->getArgNo()));
      continue;
    }
    const Root root = root_of(*value);
    auto same = [&](const Root& other) { return other.kind == root.kind && other.index == root.index; };
    if (std::ranges::none_of(roots, same)) roots.push_back(root);
  }
  return roots;
}

// Whether all that a parameter can be is known: the operands of the calls of its function.
bool Provenance::is_called_directly(const llvm::Argument& argument) const {
  const llvm::Function* function = argument.getParent();
  return function != &kernel_ && std::ranges::find(linked_, function) == linked_.end() && !argument.hasByValAttr() &&
         !function->hasAddressTaken();
}

Root Provenance::root_of(const llvm::Value& base) const {
  if (llvm::isa<llvm::AllocaInst>(base)) return {RootKind::private_memory, 0};
  if (llvm::isa<llvm::ConstantPointerNull>(base)) return {RootKind::null, 0};
  if (const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&base))
    if (auto known = variables_.find(variable); known != variables_.end()) return known->second;
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&base)) {
    if (argument->hasByValAttr()) return {RootKind::private_memory, 0};
    if (argument->getParent() == &kernel_) {
      const auto slot = std::ranges::find(slots_, argument->getArgNo(), &device::Slot::parameter);
      if (slot == slots_.end()) return {RootKind::switched_off, argument->getArgNo()};
      return {RootKind::slot, static_cast<uint32_t>(slot - slots_.begin())};
    }
  }
  return {RootKind::unknown, 0};
}

}  // namespace metalloid::cpu::validation
