// The arrays of all lanes of a group are one array. Where all accesses are understood, it is made of granules of a few
// bytes, those of the lanes side by side, so that lanes that access the same element read or write one vector:
//
//     a[i], 4 bytes   →   array + i * 4 * width + lane * 4
//
// Where they are not (the pointer is passed on, or may be to something else), each lane has its own range of bytes:
//
//     a               →   array + lane * size
//
// Behind the array is a place where stores out of range go (see lower/private_arrays.hpp).
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/Utils/Local.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/passes.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr uint64_t largest_granule = 8;
constexpr uint64_t array_alignment = 64;

// What is done with an array.
struct Uses {
  llvm::SmallSetVector<llvm::Instruction*, 16> pointers;  // into it and nothing else; the array itself is the first
  std::vector<llvm::Instruction*> accesses;               // loads and stores through them
  std::vector<llvm::Instruction*> lifetimes;
  bool escapes = false;  // there is more
};

bool is_derived(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::GetElementPtrInst, llvm::PHINode, llvm::SelectInst, llvm::AddrSpaceCastInst, llvm::FreezeInst>(
      instruction);
}

llvm::SmallVector<llvm::Value*> sources_of(llvm::Instruction& pointer) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&pointer))
    return llvm::SmallVector<llvm::Value*>(phi->incoming_values());
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&pointer))
    return {select->getTrueValue(), select->getFalseValue()};
  return {pointer.getOperand(0)};
}

bool is_through(const llvm::Instruction& access, const llvm::Value* pointer) {
  if (access.isAtomic() || llvm::getLoadStorePointerOperand(&access) != pointer) return false;
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&access);
  return !store || store->getValueOperand() != pointer;
}

Uses find_uses(llvm::AllocaInst& array) {
  llvm::SmallSetVector<llvm::Instruction*, 16> pointers;
  pointers.insert(&array);
  for (size_t i = 0; i < pointers.size(); ++i)
    for (llvm::User* user : pointers[i]->users())
      if (auto* instruction = llvm::cast<llvm::Instruction>(user);
          is_derived(*instruction) && instruction->getType()->isPointerTy())
        pointers.insert(instruction);

  // Pointers that may also be into something else, and those that come from them.
  const auto is_mixed = [&](llvm::Instruction* pointer) {
    return pointer != &array && !llvm::all_of(sources_of(*pointer), [&](llvm::Value* source) {
             auto* instruction = llvm::dyn_cast<llvm::Instruction>(source);
             return llvm::isa<llvm::UndefValue>(source) || (instruction && pointers.contains(instruction));
           });
  };
  for (bool shrunk = true; shrunk;) {
    llvm::SmallVector<llvm::Instruction*> mixed;
    llvm::copy_if(pointers, std::back_inserter(mixed), is_mixed);
    for (llvm::Instruction* pointer : mixed) pointers.remove(pointer);
    shrunk = !mixed.empty();
  }

  Uses uses;
  for (llvm::Instruction* pointer : pointers)
    for (llvm::User* user : pointer->users()) {
      auto* instruction = llvm::cast<llvm::Instruction>(user);
      if (pointers.contains(instruction)) continue;
      if (is_through(*instruction, pointer))
        uses.accesses.push_back(instruction);
      else if (instruction->isLifetimeStartOrEnd())
        uses.lifetimes.push_back(instruction);
      else
        uses.escapes = true;
    }
  uses.pointers = std::move(pointers);
  return uses;
}

// How far pointers are from the start of their array, as i64 values beside them.
class Offsets {
 public:
  explicit Offsets(const Uses& uses) { offsets_[uses.pointers.front()] = zero(*uses.pointers.front()); }

  llvm::Value* of(llvm::Value* pointer) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(pointer);
    if (!instruction) return zero(*pointer);
    if (auto known = offsets_.find(instruction); known != offsets_.end()) return known->second;
    llvm::IRBuilder<> builder(instruction);
    if (auto* phi = llvm::dyn_cast<llvm::PHINode>(instruction)) return of_phi(*phi, builder);
    llvm::Value* offset = nullptr;
    if (auto* select = llvm::dyn_cast<llvm::SelectInst>(instruction)) {
      llvm::Value* otherwise = of(select->getFalseValue());
      offset = builder.CreateSelect(select->getCondition(), of(select->getTrueValue()), otherwise);
    } else {
      offset = of(instruction->getOperand(0));
      if (auto* element = llvm::dyn_cast<llvm::GetElementPtrInst>(instruction)) {
        llvm::Value* step =
            llvm::emitGEPOffset(&builder, instruction->getDataLayout(), element, /*NoAssumptions=*/true);
        offset = builder.CreateAdd(offset, builder.CreateSExtOrTrunc(step, builder.getInt64Ty()));
      }
    }
    return offsets_[instruction] = offset;
  }

 private:
  static llvm::Value* zero(const llvm::Value& pointer) {
    return llvm::ConstantInt::get(llvm::Type::getInt64Ty(pointer.getContext()), 0);
  }

  llvm::Value* of_phi(llvm::PHINode& phi, llvm::IRBuilder<>& builder) {
    llvm::PHINode* offset = builder.CreatePHI(builder.getInt64Ty(), phi.getNumIncomingValues());
    offsets_[&phi] = offset;
    for (unsigned i = 0; i < phi.getNumIncomingValues(); ++i)
      offset->addIncoming(of(phi.getIncomingValue(i)), phi.getIncomingBlock(i));
    return offset;
  }

  std::map<llvm::Instruction*, llvm::Value*> offsets_;
};

class Spreading {
 public:
  Spreading(llvm::Function& function, unsigned width, llvm::ScalarEvolution& evolution)
      : function_(function), layout_(function.getDataLayout()), evolution_(evolution), width_(width) {}

  void run(llvm::AllocaInst& array) {
    size_ = array.getAllocationSize(layout_)->getFixedValue();
    Uses uses = find_uses(array);
    Offsets offsets(uses);
    for (llvm::Instruction* lifetime : uses.lifetimes) lifetime->eraseFromParent();
    const uint64_t granule = width_ == 1 || uses.escapes ? 0 : find_granule(array, uses, offsets);
    if (granule != 0)
      interleave(array, uses, offsets, granule);
    else
      give_ranges(array, uses, offsets);
  }

 private:
  struct Access {
    llvm::Type* element;
    uint64_t bytes;  // of the element
    unsigned count;
  };

  // A load or store of scalars, or of a vector of them.
  Access access_of(const llvm::Instruction& instruction) const {
    llvm::Type* type = llvm::getLoadStoreType(&instruction);
    const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
    llvm::Type* element = type->getScalarType();
    return {element, layout_.getTypeStoreSize(element), vector ? vector->getNumElements() : 1};
  }

  // The size of the largest access if granules can be made of it, otherwise 0.
  uint64_t find_granule(const llvm::AllocaInst& array, const Uses& uses, Offsets& offsets) {
    uint64_t granule = 1;
    for (llvm::Instruction* instruction : uses.accesses) {
      llvm::Type* type = llvm::getLoadStoreType(instruction);
      if (!type->isSingleValueType() || llvm::isa<llvm::ScalableVectorType>(type)) return 0;
      const Access access = access_of(*instruction);
      if (!std::has_single_bit(access.bytes) || access.bytes > largest_granule) return 0;
      if (type->isVectorTy() && layout_.getTypeSizeInBits(access.element) != access.bytes * 8) return 0;
      const bool said_aligned = std::min(llvm::getLoadStoreAlignment(instruction), array.getAlign()) >= access.bytes;
      if (!said_aligned && !is_multiple(offsets.of(llvm::getLoadStorePointerOperand(instruction)), access.bytes))
        return 0;
      granule = std::max(granule, access.bytes);
    }
    return granule;
  }

  bool is_multiple(llvm::Value* offset, uint64_t size) {
    return evolution_.getMinTrailingZeros(evolution_.getSCEV(offset)) >= unsigned(std::countr_zero(size));
  }

  // Whether an access of `bytes` at `offset` is inside; null if it always is.
  llvm::Value* in_range(llvm::IRBuilder<>& builder, llvm::Value* offset, uint64_t bytes) {
    if (bytes > size_) return builder.getFalse();
    const uint64_t last = size_ - bytes;
    if (evolution_.getUnsignedRangeMax(evolution_.getSCEV(offset)).ule(last)) return nullptr;
    return builder.CreateICmpULE(offset, builder.getInt64(last));
  }

  void interleave(llvm::AllocaInst& array, const Uses& uses, Offsets& offsets, uint64_t granule) {
    const uint64_t rounded = llvm::alignTo(size_, granule);
    llvm::AllocaInst* all = make_array((rounded + granule) * width_, array);
    for (llvm::Instruction* instruction : uses.accesses) {
      const Access access = access_of(*instruction);
      llvm::IRBuilder<> builder(instruction);
      llvm::Value* start = offsets.of(llvm::getLoadStorePointerOperand(instruction));
      auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
      llvm::Value* whole = store ? nullptr : llvm::PoisonValue::get(instruction->getType());
      for (unsigned i = 0; i < access.count; ++i) {
        llvm::Value* offset = i == 0 ? start : builder.CreateAdd(start, builder.getInt64(i * access.bytes));
        llvm::Value* inside = in_range(builder, offset, access.bytes);
        if (inside) offset = builder.CreateSelect(inside, offset, builder.getInt64(rounded));
        llvm::Value* place = place_of(builder, all, offset, access.bytes, granule);
        const bool is_vector = llvm::getLoadStoreType(instruction)->isVectorTy();
        if (store) {
          llvm::Value* value = store->getValueOperand();
          access_like(*store, builder.CreateAlignedStore(is_vector ? builder.CreateExtractElement(value, i) : value,
                                                         place, llvm::Align(access.bytes), store->isVolatile()));
          continue;
        }
        auto* load = llvm::cast<llvm::LoadInst>(instruction);
        llvm::LoadInst* element =
            builder.CreateAlignedLoad(access.element, place, llvm::Align(access.bytes), load->isVolatile());
        access_like(*load, element);
        llvm::Value* value =
            inside ? builder.CreateSelect(inside, element, llvm::Constant::getNullValue(access.element)) : element;
        whole = is_vector ? builder.CreateInsertElement(whole, value, i) : value;
      }
      if (whole) instruction->replaceAllUsesWith(whole);
      instruction->eraseFromParent();
    }
    for (llvm::Instruction* pointer : uses.pointers)
      pointer->replaceAllUsesWith(llvm::PoisonValue::get(pointer->getType()));
    for (llvm::Instruction* pointer : uses.pointers) pointer->eraseFromParent();
  }

  static void access_like(const llvm::Instruction& old, llvm::Instruction* made) {
    made->setAAMetadata(old.getAAMetadata());
    made->setDebugLoc(old.getDebugLoc());
  }

  // Where the byte at `offset`, which is in range, of this lane is.
  llvm::Value* place_of(llvm::IRBuilder<>& builder, llvm::Value* all, llvm::Value* offset, uint64_t bytes,
                        uint64_t granule) {
    const auto times = [&](llvm::Value* value, uint64_t factor) {
      return builder.CreateMul(value, builder.getInt64(factor), "", /*HasNUW=*/true, /*HasNSW=*/true);
    };
    const auto plus = [&](llvm::Value* a, llvm::Value* b) {
      return builder.CreateAdd(a, b, "", /*HasNUW=*/true, /*HasNSW=*/true);
    };
    const bool is_whole = bytes == granule;
    llvm::Value* first = is_whole ? offset : builder.CreateAnd(offset, builder.getInt64(~(granule - 1)));
    llvm::Value* place = plus(times(first, width_), times(lane_number(), granule));
    if (!is_whole) place = plus(place, builder.CreateAnd(offset, builder.getInt64(granule - 1)));
    return builder.CreateGEP(builder.getInt8Ty(), all, place, "",
                             llvm::GEPNoWrapFlags::inBounds() | llvm::GEPNoWrapFlags::noUnsignedWrap());
  }

  void give_ranges(llvm::AllocaInst& array, const Uses& uses, Offsets& offsets) {
    struct Guarded {
      llvm::Instruction* access;
      llvm::Value* inside;
    };
    std::vector<Guarded> guarded;
    uint64_t spare = 0;
    for (llvm::Instruction* access : uses.accesses) {
      const uint64_t bytes = layout_.getTypeStoreSize(llvm::getLoadStoreType(access));
      llvm::IRBuilder<> builder(access);
      llvm::Value* inside = in_range(builder, offsets.of(llvm::getLoadStorePointerOperand(access)), bytes);
      if (!inside) continue;
      guarded.push_back({access, inside});
      spare = std::max(spare, bytes);
    }

    const uint64_t range = llvm::alignTo(size_, array.getAlign());
    const uint64_t behind = llvm::alignTo(range * width_, array_alignment);
    llvm::AllocaInst* all = make_array(behind + spare, array);
    llvm::IRBuilder<> builder(&function_.getEntryBlock(), after_lane());
    llvm::Value* start = builder.CreateMul(lane_number(), builder.getInt64(range), "", true, true);
    array.replaceAllUsesWith(builder.CreateInBoundsGEP(builder.getInt8Ty(), all, start, array.getName()));
    array.eraseFromParent();

    for (const Guarded& access : guarded) {
      builder.SetInsertPoint(access.access);
      guard(builder, *access.access, access.inside,
            builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), all, behind));
    }
  }

  static void guard(llvm::IRBuilder<>& builder, llvm::Instruction& access, llvm::Value* inside, llvm::Value* spare) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&access);
    const unsigned operand = load ? load->getPointerOperandIndex() : llvm::StoreInst::getPointerOperandIndex();
    llvm::Value* pointer = access.getOperand(operand);
    if (spare->getType() != pointer->getType()) spare = builder.CreateAddrSpaceCast(spare, pointer->getType());
    access.setOperand(operand, builder.CreateSelect(inside, pointer, spare));
    if (!load) return;
    load->dropUBImplyingAttrsAndMetadata();
    builder.SetInsertPoint(access.getNextNode());
    llvm::Value* value = builder.CreateSelect(inside, load, llvm::Constant::getNullValue(load->getType()));
    load->replaceUsesWithIf(value, [value](llvm::Use& use) { return use.getUser() != value; });
  }

  llvm::AllocaInst* make_array(uint64_t bytes, const llvm::AllocaInst& replaced) {
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.begin());
    llvm::AllocaInst* array =
        builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), bytes), nullptr, replaced.getName() + ".lanes");
    array->setAlignment(std::max(llvm::Align(array_alignment), replaced.getAlign()));
    return array;
  }

  // The lane as i64, from the start of the function.
  llvm::Value* lane_number() {
    if (lane_) return lane_;
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::IRBuilder<> builder(&entry, entry.getFirstNonPHIOrDbgOrAlloca());
    if (width_ == 1) return lane_ = builder.getInt64(0);
    return lane_ = builder.CreateZExt(lane(builder, width_), builder.getInt64Ty(), "", /*IsNonNeg=*/true);
  }

  llvm::BasicBlock::iterator after_lane() {
    auto* number = llvm::dyn_cast<llvm::Instruction>(lane_number());
    return number ? std::next(number->getIterator()) : function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca();
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::ScalarEvolution& evolution_;
  unsigned width_;
  uint64_t size_ = 0;  // of the array at hand, in one lane
  llvm::Value* lane_ = nullptr;
};

}  // namespace

llvm::PreservedAnalyses SpreadPrivateArrays::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  std::vector<llvm::AllocaInst*> arrays;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      if (array->getAllocationSize(function.getDataLayout())) arrays.push_back(array);
  if (arrays.empty()) return llvm::PreservedAnalyses::all();

  Spreading spreading(function, width, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function));
  for (llvm::AllocaInst* array : arrays) spreading.run(*array);
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace metalloid::cpu::vector
