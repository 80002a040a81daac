#include "cpu/vector/copies.hpp"

#include <llvm/IR/DataLayout.h>
#include <llvm/Support/MathExtras.h>

namespace metalloid::cpu::vector {

namespace {

// The store that a load is for, if it is for nothing else.
llvm::StoreInst* store_of(llvm::Instruction& load) {
  if (!load.hasOneUse()) return nullptr;
  auto* store = llvm::dyn_cast<llvm::StoreInst>(*load.user_begin());
  const bool is_stored = store && store->getValueOperand() == &load && store->isSimple();
  return is_stored && store->getParent() == load.getParent() ? store : nullptr;
}

}  // namespace

std::optional<Copy> find_copy(llvm::LoadInst& first, const llvm::DataLayout& layout) {
  if (!store_of(first) || first.getType()->isVectorTy()) return std::nullopt;
  Copy copy{find_neighbours(first, furthest_neighbour, /*by_index=*/false, layout), {}};
  const Neighbours& loads = copy.loads;
  if (loads.members.size() < 2 || loads.members.size() != loads.count || !llvm::isPowerOf2_32(loads.count))
    return std::nullopt;
  llvm::StoreInst* first_store = nullptr;
  for (const auto& load : loads.members) {
    llvm::StoreInst* store = store_of(*load.access);
    if (!store) return std::nullopt;
    if (!first_store || store->comesBefore(first_store)) first_store = store;
  }
  copy.stores = find_neighbours(*first_store, furthest_neighbour, /*by_index=*/false, layout);
  if (copy.stores.members.size() != loads.members.size() || copy.stores.count != loads.count) return std::nullopt;
  for (const auto& load : loads.members) {
    const bool has_same_place = llvm::any_of(copy.stores.members, [&](const Neighbours::Member& store) {
      return store.access == *load.access->user_begin() && store.place == load.place;
    });
    if (!has_same_place) return std::nullopt;
  }
  return copy;
}

}  // namespace metalloid::cpu::vector
