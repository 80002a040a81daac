#include "bitcode/private_arrays.hpp"

#include <llvm/Analysis/MemoryBuiltins.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>

#include <algorithm>
#include <vector>

namespace metalloid::bitcode {

namespace {

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* in_range;
};

// Where `pointer` is known to be in an array of the function's: the condition that an access of `bytes` is inside; null
// if it always is, or if nothing is known.
llvm::Value* make_condition(llvm::Instruction& instruction, llvm::Value* pointer, uint64_t bytes,
                            llvm::ObjectSizeOffsetEvaluator& evaluator, llvm::ScalarEvolution& evolution) {
  if (!llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer))) return nullptr;
  const llvm::SizeOffsetValue place = evaluator.compute(pointer);
  const auto* size = place.bothKnown() ? llvm::dyn_cast<llvm::ConstantInt>(place.Size) : nullptr;
  if (!size || size->getZExtValue() < bytes) return nullptr;
  const uint64_t last = size->getZExtValue() - bytes;
  if (evolution.getUnsignedRangeMax(evolution.getSCEV(place.Offset)).ule(last)) return nullptr;
  llvm::IRBuilder<> builder(&instruction);
  return builder.CreateICmpULE(place.Offset, llvm::ConstantInt::get(place.Offset->getType(), last));
}

void guard(const Access& access, llvm::Value* lost) {
  llvm::Instruction& instruction = *access.instruction;
  llvm::IRBuilder<> builder(&instruction);
  auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  const unsigned operand = load ? load->getPointerOperandIndex() : llvm::StoreInst::getPointerOperandIndex();
  instruction.setOperand(operand, builder.CreateSelect(access.in_range, instruction.getOperand(operand), lost));
  if (!load) return;
  builder.SetInsertPoint(instruction.getNextNode());
  auto* value = llvm::cast<llvm::Instruction>(
      builder.CreateSelect(access.in_range, load, llvm::Constant::getNullValue(load->getType())));
  load->replaceUsesWithIf(value, [value](llvm::Use& use) { return use.getUser() != value; });
}

// LLVM makes loops that fill an array into one call; its range is cut to what is inside.
bool guard_fill(llvm::MemSetInst& fill, llvm::ObjectSizeOffsetEvaluator& evaluator) {
  llvm::Value* array = llvm::getUnderlyingObject(fill.getRawDest());
  if (!llvm::isa<llvm::AllocaInst>(array)) return false;
  if (fill.getRawDest() == array && llvm::isa<llvm::ConstantInt>(fill.getLength())) return false;
  const llvm::SizeOffsetValue place = evaluator.compute(fill.getRawDest());
  if (!place.bothKnown()) return false;
  llvm::IRBuilder<> builder(&fill);
  llvm::Type* number = place.Offset->getType();
  llvm::Value* length = builder.CreateZExtOrTrunc(fill.getLength(), number);
  const auto smaller = [&](llvm::Value* a, llvm::Value* b) {
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  };
  const auto larger = [&](llvm::Value* a, llvm::Value* b) {
    return builder.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  };
  llvm::Value* zero = llvm::ConstantInt::get(number, 0);
  llvm::Value* first = smaller(larger(place.Offset, zero), place.Size);
  llvm::Value* end = smaller(builder.CreateAdd(place.Offset, length), place.Size);
  fill.setDest(builder.CreatePtrAdd(array, first));
  fill.setDestAlignment(llvm::Align(1));
  fill.setLength(builder.CreateZExtOrTrunc(larger(builder.CreateSub(end, first), zero), fill.getLength()->getType()));
  return true;
}

}  // namespace

llvm::PreservedAnalyses GuardPrivateArrays::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const llvm::DataLayout& layout = function.getDataLayout();
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  auto& library = analyses.getResult<llvm::TargetLibraryAnalysis>(function);
  llvm::ObjectSizeOffsetEvaluator evaluator(layout, &library, function.getContext());

  std::vector<llvm::Instruction*> candidates;
  std::vector<llvm::MemSetInst*> fills;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) candidates.push_back(&instruction);
    if (auto* fill = llvm::dyn_cast<llvm::MemSetInst>(&instruction)) fills.push_back(fill);
  }

  bool changed = false;
  for (llvm::MemSetInst* fill : fills) changed |= guard_fill(*fill, evaluator);

  std::vector<Access> accesses;
  uint64_t largest = 0;
  llvm::Align alignment;
  for (llvm::Instruction* instruction : candidates) {
    llvm::Value* pointer = llvm::getLoadStorePointerOperand(instruction);
    const uint64_t bytes = layout.getTypeStoreSize(llvm::getLoadStoreType(instruction));
    llvm::Value* in_range = make_condition(*instruction, pointer, bytes, evaluator, evolution);
    if (!in_range) continue;
    accesses.push_back({instruction, in_range});
    largest = std::max(largest, bytes);
    alignment = std::max(alignment, llvm::getLoadStoreAlignment(instruction));
  }
  if (accesses.empty()) return changed ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();

  llvm::BasicBlock& entry = function.getEntryBlock();
  llvm::IRBuilder<> builder(&entry, entry.begin());
  llvm::AllocaInst* lost = builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), largest), nullptr, "lost");
  lost->setAlignment(alignment);
  for (const Access& access : accesses) guard(access, lost);
  return llvm::PreservedAnalyses::none();
}

}  // namespace metalloid::bitcode
