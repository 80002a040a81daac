// Accesses longer than a register, in the order of their addresses. LLVM cuts them into halves until they fit, and
// makes the pieces in any order, the last one first for example; processors fetch ahead of what goes upwards. So they
// are cut here.
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PassManager.h>

#include "cpu/vector/accesses.hpp"
#include "cpu/vector/passes.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

// The pieces of a vector that fill a register each.
struct Pieces {
  llvm::FixedVectorType* type = nullptr;
  unsigned count = 0;
  uint64_t bytes = 0;
};

// None if it fits into one, or into no whole number of them.
std::optional<Pieces> pieces_of(llvm::Type* type, uint64_t register_bits) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!vector) return std::nullopt;
  const uint64_t bits = vector->getScalarSizeInBits(), all = bits * vector->getNumElements();
  if (bits % 8 != 0 || !llvm::isPowerOf2_64(all) || all <= register_bits) return std::nullopt;
  return Pieces{llvm::FixedVectorType::get(vector->getElementType(), static_cast<unsigned>(register_bits / bits)),
                static_cast<unsigned>(all / register_bits), register_bits / 8};
}

llvm::Value* joined(llvm::IRBuilder<>& builder, llvm::SmallVector<llvm::Value*> parts) {
  while (parts.size() > 1) {
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(parts.front()->getType())->getNumElements();
    for (size_t i = 0; i < parts.size() / 2; ++i)
      parts[i] = builder.CreateShuffleVector(parts[2 * i], parts[2 * i + 1], every(2 * lanes, 1, 0));
    parts.resize(parts.size() / 2);
  }
  return parts.front();
}

void cut(llvm::LoadInst& load, const Pieces& pieces) {
  llvm::IRBuilder<> builder(&load);
  llvm::SmallVector<llvm::Value*> parts;
  for (unsigned i = 0; i < pieces.count; ++i) {
    llvm::Value* address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), load.getPointerOperand(), i * pieces.bytes);
    auto* part =
        builder.CreateAlignedLoad(pieces.type, address, llvm::commonAlignment(load.getAlign(), i * pieces.bytes));
    part->copyMetadata(load);
    parts.push_back(part);
  }
  load.replaceAllUsesWith(joined(builder, std::move(parts)));
  load.eraseFromParent();
}

void cut(llvm::StoreInst& store, const Pieces& pieces) {
  llvm::IRBuilder<> builder(&store);
  const unsigned lanes = pieces.type->getNumElements();
  for (unsigned i = 0; i < pieces.count; ++i) {
    llvm::Value* address =
        builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), store.getPointerOperand(), i * pieces.bytes);
    builder
        .CreateAlignedStore(builder.CreateShuffleVector(store.getValueOperand(), every(lanes, 1, i * lanes)), address,
                            llvm::commonAlignment(store.getAlign(), i * pieces.bytes))
        ->copyMetadata(store);
  }
  store.eraseFromParent();
}

}  // namespace

llvm::PreservedAnalyses OrderAccesses::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  const uint64_t bits =
      has_mask_registers(function)
          ? 512
          : target.getRegisterBitWidth(llvm::TargetTransformInfo::RGK_FixedWidthVector).getFixedValue();
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && load->isSimple()) {
      if (const auto pieces = pieces_of(load->getType(), bits)) cut(*load, *pieces);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple()) {
      if (const auto pieces = pieces_of(store->getValueOperand()->getType(), bits)) cut(*store, *pieces);
    }
  }
  return llvm::PreservedAnalyses::none();
}

}  // namespace metalloid::cpu::vector
