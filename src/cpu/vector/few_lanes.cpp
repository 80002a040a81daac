// Stores of few lanes, which are known: the last thread of a SIMD-group leaves its sum for others. They are stores of
// scalars; processors that scatter take as long for one lane as for sixteen.
//
//     masked.scatter(%sums, getelementptr(%partial, <0, 0, ... 1, 1, ...>), <0, ... 0, 1, 0, ... 0, 1>)
//
// becomes
//
//     store(extractelement(%sums, 31), %partial)
//     store(extractelement(%sums, 63), getelementptr(%partial, 1))
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

#include "cpu/vector/passes.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr size_t few = 8;

// None if it is not known which, or if they are many.
std::optional<llvm::SmallVector<unsigned, few>> few_lanes_of(const llvm::Value* mask) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (!constant) return std::nullopt;
  llvm::SmallVector<unsigned, few> lanes;
  const unsigned width = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  for (unsigned lane = 0; lane < width; ++lane) {
    const auto* is_on = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
    if (!is_on) return std::nullopt;
    if (is_on->isOne()) lanes.push_back(lane);
    if (lanes.size() > few) return std::nullopt;
  }
  return lanes;
}

llvm::Value* element_of(llvm::IRBuilder<>& builder, llvm::Value* value, unsigned lane) {
  if (!value->getType()->isVectorTy()) return value;
  auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
  if (!address) return builder.CreateExtractElement(value, lane);
  llvm::SmallVector<llvm::Value*, 2> indices;
  for (llvm::Value* index : address->indices()) indices.push_back(element_of(builder, index, lane));
  return builder.CreateGEP(address->getSourceElementType(), element_of(builder, address->getPointerOperand(), lane),
                           indices, "", address->getNoWrapFlags());
}

}  // namespace

llvm::PreservedAnalyses StoreFewLanes::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  struct Store {
    llvm::IntrinsicInst* scatter;
    llvm::SmallVector<unsigned, few> lanes;
  };
  llvm::SmallVector<Store> stores;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* scatter = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!scatter || scatter->getIntrinsicID() != llvm::Intrinsic::masked_scatter) continue;
    if (auto lanes = few_lanes_of(scatter->getArgOperand(2))) stores.push_back({scatter, std::move(*lanes)});
  }
  for (const auto& [scatter, lanes] : stores) {
    llvm::IRBuilder<> builder(scatter);
    llvm::Value *values = scatter->getArgOperand(0), *addresses = scatter->getArgOperand(1);
    const llvm::Align alignment = scatter->getParamAlign(1).valueOrOne();
    for (const unsigned lane : lanes)
      builder.CreateAlignedStore(element_of(builder, values, lane), element_of(builder, addresses, lane), alignment);
    scatter->eraseFromParent();
    llvm::RecursivelyDeleteTriviallyDeadInstructions(addresses);
  }
  return stores.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace metalloid::cpu::vector
