#include "cpu/vector/join_products.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SetVector.h>

#include <functional>

#include "cpu/vector/groups.hpp"

namespace metalloid::cpu::vector {

namespace {

llvm::CallInst* as_product(llvm::Instruction* instruction) {
  auto* call = llvm::dyn_cast_or_null<llvm::CallInst>(instruction);
  return call && call->getCalledFunction() && is_matrix_product(call->getCalledFunction()->getName()) ? call : nullptr;
}

// Moves what a product's operands are put together from, as far as it stands behind `first`, in front of it. False:
// something else is needed from there.
bool move_operands_before(llvm::Instruction& first, llvm::CallInst& product) {
  llvm::SmallSetVector<llvm::Instruction*, 8> parts;  // what is needed comes before what needs it
  const std::function<bool(llvm::Value*)> find = [&](llvm::Value* value) {
    auto* part = llvm::dyn_cast<llvm::Instruction>(value);
    if (!part || part->getParent() != first.getParent() || part->comesBefore(&first)) return true;
    if (!llvm::isa<llvm::InsertElementInst>(part) || !llvm::all_of(part->operand_values(), find)) return false;
    parts.insert(part);
    return true;
  };
  if (!llvm::all_of(product.args(), find)) return false;
  for (llvm::Instruction* part : parts) part->moveBefore(first.getIterator());
  return true;
}

}  // namespace

void join_products(llvm::Function& lane_form) {
  for (llvm::BasicBlock& block : lane_form) {
    llvm::CallInst *first = nullptr, *last = nullptr;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      llvm::CallInst* product = as_product(&instruction);
      if (!product) continue;
      if (first && move_operands_before(*first, *product))
        product->moveAfter(last);
      else
        first = product;
      last = product;
    }
  }
}

llvm::SmallVector<llvm::CallInst*, 4> products_side_by_side(llvm::CallInst& first, unsigned most) {
  llvm::SmallVector<llvm::CallInst*, 4> products;
  for (llvm::CallInst* next = &first; next && products.size() < most; next = as_product(next->getNextNode())) {
    const auto is_made_here = [&](llvm::Value* value) { return llvm::is_contained(products, value); };
    if (llvm::any_of(next->args(), is_made_here)) break;
    products.push_back(next);
  }
  return products;
}

}  // namespace metalloid::cpu::vector
