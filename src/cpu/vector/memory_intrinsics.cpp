// Lanes that copy memory do so element by element, as their other accesses do: an array of floats that is copied in
// floats can still be spread over the lanes (SpreadPrivateArrays).
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "cpu/vector/passes.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr uint64_t usual_element = 4, largest_element = 8;
constexpr uint64_t longest_straight_line = 256;  // bytes

// The size of the elements that an array is accessed in elsewhere: the largest of its scalar accesses, 0 if none.
uint64_t element_of(const llvm::AllocaInst& array, const llvm::DataLayout& layout) {
  uint64_t element = 0;
  llvm::SmallVector<const llvm::Value*> pointers{&array};
  llvm::SmallPtrSet<const llvm::Value*, 16> seen{&array};
  while (!pointers.empty())
    for (const llvm::User* user : pointers.pop_back_val()->users()) {
      if (llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::AddrSpaceCastInst>(user)) {
        if (seen.insert(user).second) pointers.push_back(user);
      } else if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(user)) {
        llvm::Type* type = llvm::getLoadStoreType(user);
        if (!type->isAggregateType())
          element = std::max(element, layout.getTypeStoreSize(type->getScalarType()).getFixedValue());
      }
    }
  return element;
}

// The elements to access `pointer` in, if it is into an array that has a say in it.
std::optional<uint64_t> best_element(llvm::Value* pointer, llvm::MaybeAlign alignment, const llvm::DataLayout& layout) {
  const auto* array = llvm::dyn_cast<llvm::AllocaInst>(llvm::getUnderlyingObject(pointer));
  if (!array) return std::nullopt;
  const uint64_t used = element_of(*array, layout);
  const uint64_t element = std::has_single_bit(used) ? std::min(used, largest_element) : usual_element;
  return std::min(element, std::max(alignment.valueOrOne(), llvm::getKnownAlignment(pointer, layout)).value());
}

uint64_t best_element(const llvm::MemIntrinsic& intrinsic, const llvm::DataLayout& layout) {
  std::optional<uint64_t> element = best_element(intrinsic.getRawDest(), intrinsic.getDestAlign(), layout);
  if (const auto* transfer = llvm::dyn_cast<llvm::MemTransferInst>(&intrinsic))
    if (auto other = best_element(transfer->getRawSource(), transfer->getSourceAlign(), layout))
      element = std::min(element.value_or(*other), *other);
  return element.value_or(usual_element);
}

bool may_overlap(const llvm::MemIntrinsic& intrinsic, llvm::AAResults& aliases) {
  const auto* move = llvm::dyn_cast<llvm::MemMoveInst>(&intrinsic);
  return move && !aliases.isNoAlias(llvm::MemoryLocation::getBeforeOrAfter(move->getRawDest()),
                                    llvm::MemoryLocation::getBeforeOrAfter(move->getRawSource()));
}

class Expansion {
 public:
  Expansion(llvm::MemIntrinsic& intrinsic, bool overlaps)
      : intrinsic_(intrinsic),
        transfer_(llvm::dyn_cast<llvm::MemTransferInst>(&intrinsic)),
        overlaps_(overlaps),
        layout_(intrinsic.getDataLayout()),
        builder_(&intrinsic),
        element_(best_element(intrinsic, layout_)) {}

  void run() {
    const auto* length = llvm::dyn_cast<llvm::ConstantInt>(intrinsic_.getLength());
    if (length && length->getZExtValue() <= longest_straight_line)
      copy_straight(length->getZExtValue());
    else
      copy_in_loops();
    intrinsic_.eraseFromParent();
  }

 private:
  static llvm::Align alignment_at(llvm::MaybeAlign start, uint64_t offset) {
    return llvm::commonAlignment(start.valueOrOne(), offset);
  }

  // What belongs at `offset`: the bytes of the source, or copies of one byte.
  llvm::Value* read(llvm::Value* offset, uint64_t bytes, uint64_t aligned_to) {
    llvm::Type* type = builder_.getIntNTy(unsigned(bytes) * 8);
    if (transfer_)
      return builder_.CreateAlignedLoad(type, builder_.CreatePtrAdd(transfer_->getRawSource(), offset),
                                        alignment_at(transfer_->getSourceAlign(), aligned_to), transfer_->isVolatile());
    llvm::Value* byte = builder_.CreateZExt(llvm::cast<llvm::MemSetInst>(intrinsic_).getValue(), type);
    return builder_.CreateMul(byte, llvm::ConstantInt::get(type, 0x0101010101010101 >> (64 - bytes * 8)));
  }

  void write(llvm::Value* value, llvm::Value* offset, uint64_t aligned_to) {
    builder_.CreateAlignedStore(value, builder_.CreatePtrAdd(intrinsic_.getRawDest(), offset),
                                alignment_at(intrinsic_.getDestAlign(), aligned_to), intrinsic_.isVolatile());
  }

  // All is read before anything is written, so that it does not matter whether the two overlap.
  void copy_straight(uint64_t length) {
    struct Piece {
      llvm::Value* value;
      uint64_t offset;
    };
    std::vector<Piece> pieces;
    for (uint64_t offset = 0; offset < length;) {
      const uint64_t bytes = std::min(element_, std::bit_floor(length - offset));
      pieces.push_back({read(builder_.getInt64(offset), bytes, offset), offset});
      offset += bytes;
    }
    for (const Piece& piece : pieces) write(piece.value, builder_.getInt64(piece.offset), piece.offset);
  }

  void copy_in_loops() {
    llvm::Value* length = builder_.CreateZExtOrTrunc(intrinsic_.getLength(), builder_.getInt64Ty());
    llvm::Value* whole = builder_.CreateAnd(length, builder_.getInt64(~(element_ - 1)));
    const unsigned known_zeros = llvm::computeKnownBits(length, layout_).countMinTrailingZeros();
    const bool has_rest = known_zeros < unsigned(std::countr_zero(element_));

    const auto forwards = [&](llvm::Instruction* before) {
      copy_in_loop(before, builder_.getInt64(0), whole, element_, false);
      if (has_rest) copy_in_loop(before, whole, length, 1, false);
    };
    const auto backwards = [&](llvm::Instruction* before) {
      if (has_rest) copy_in_loop(before, whole, length, 1, true);
      copy_in_loop(before, builder_.getInt64(0), whole, element_, true);
    };
    if (!overlaps_) return forwards(&intrinsic_);
    llvm::Value* is_after =
        builder_.CreateICmpUGT(builder_.CreatePtrToInt(intrinsic_.getRawDest(), builder_.getInt64Ty()),
                               builder_.CreatePtrToInt(transfer_->getRawSource(), builder_.getInt64Ty()));
    llvm::Instruction *then = nullptr, *otherwise = nullptr;
    llvm::SplitBlockAndInsertIfThenElse(is_after, intrinsic_.getIterator(), &then, &otherwise);
    backwards(then);
    forwards(otherwise);
  }

  // Elements of `bytes` from offset `first` up to `end`.
  void copy_in_loop(llvm::Instruction* before, llvm::Value* first, llvm::Value* end, uint64_t bytes, bool backwards) {
    builder_.SetInsertPoint(before);
    llvm::Value* count = builder_.CreateUDiv(builder_.CreateSub(end, first), builder_.getInt64(bytes), "", true);
    llvm::Instruction* then = llvm::SplitBlockAndInsertIfThen(builder_.CreateIsNotNull(count), before->getIterator(),
                                                              /*Unreachable=*/false);
    auto [body, place] = llvm::SplitBlockAndInsertSimpleForLoop(count, then->getIterator());
    builder_.SetInsertPoint(body);
    if (backwards) place = builder_.CreateSub(builder_.CreateSub(count, builder_.getInt64(1)), place);
    llvm::Value* offset = builder_.CreateAdd(first, builder_.CreateMul(place, builder_.getInt64(bytes)));
    write(read(offset, bytes, bytes), offset, bytes);
  }

  llvm::MemIntrinsic& intrinsic_;
  llvm::MemTransferInst* transfer_;
  bool overlaps_;
  const llvm::DataLayout& layout_;
  llvm::IRBuilder<> builder_;
  uint64_t element_;  // a power of two
};

}  // namespace

llvm::PreservedAnalyses ExpandMemoryIntrinsics::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& aliases = analyses.getResult<llvm::AAManager>(function);
  std::vector<std::pair<llvm::MemIntrinsic*, bool>> intrinsics;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* intrinsic = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction))
      intrinsics.emplace_back(intrinsic, may_overlap(*intrinsic, aliases));
  for (auto [intrinsic, overlaps] : intrinsics) Expansion(*intrinsic, overlaps).run();
  return intrinsics.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::none();
}

}  // namespace metalloid::cpu::vector
