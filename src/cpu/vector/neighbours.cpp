#include "cpu/vector/neighbours.hpp"

#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DataLayout.h>

#include <algorithm>

#include "cpu/vector/accesses.hpp"

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned furthest = 400;  // instructions

const llvm::CastInst* as_extension(const llvm::Value* value) {
  if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(value)) return nullptr;
  const auto* extension = llvm::cast<llvm::CastInst>(value);
  const unsigned bits = extension->getSrcTy()->getScalarSizeInBits();
  return bits > 1 && bits <= 32 ? extension : nullptr;
}

bool is_plain(const llvm::Instruction& instruction) {
  return !instruction.isAtomic() && !instruction.isVolatile();
}

}  // namespace

bool Place::has_index_of(const Place& other) const {
  return index == other.index && element == other.element && !extension == !other.extension &&
         (!extension || extension->getOpcode() == other.extension->getOpcode());
}

Place place_of(const llvm::Instruction& access, bool by_index, const llvm::DataLayout& layout) {
  const auto [base, offset] = distance_of(const_cast<llvm::Value*>(llvm::getLoadStorePointerOperand(&access)), layout);
  Place place{base, offset};
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(base);
  if (!address || address->getNumIndices() != 1 || !address->getOperand(1)->getType()->isIntegerTy(64)) return place;
  place.base = address->getPointerOperand();
  place.index = address->getOperand(1);
  place.element = layout.getTypeAllocSize(address->getSourceElementType()).getFixedValue();
  if (by_index) place.extension = as_extension(place.index);
  if (place.extension) place.index = place.extension->getOperand(0);
  const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(place.index);
  if (!sum || sum->getOpcode() != llvm::Instruction::Add) return place;
  if (const auto* added = llvm::dyn_cast<llvm::ConstantInt>(sum->getOperand(1))) {
    place.index = sum->getOperand(0);
    place.added = added->getSExtValue();
  }
  return place;
}

int64_t Neighbours::lowest_index() const {
  return std::ranges::min(members, {}, &Member::index).index;
}

int64_t Neighbours::highest_index() const {
  return std::ranges::max(members, {}, &Member::index).index;
}

Neighbours find_neighbours(llvm::Instruction& first, int64_t stride, bool by_index, const llvm::DataLayout& layout) {
  llvm::Type* type = llvm::getLoadStoreType(&first);
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(type).getFixedValue());
  const Place start = place_of(first, by_index, layout);
  const bool is_store = llvm::isa<llvm::StoreInst>(first);

  struct Candidate {
    llvm::Instruction* access;
    int64_t distance, index;
  };
  llvm::SmallVector<Candidate> candidates{{&first, 0, 0}};
  unsigned seen = 0;
  for (llvm::Instruction* next = first.getNextNode(); next && ++seen < furthest; next = next->getNextNode()) {
    if (!next->mayReadOrWriteMemory()) continue;
    const bool is_same_kind = is_store ? llvm::isa<llvm::StoreInst>(next) : llvm::isa<llvm::LoadInst>(next);
    if (is_same_kind && is_plain(*next) && llvm::getLoadStoreType(next) == type) {
      const Place place = place_of(*next, by_index, layout);
      const int64_t distance = place.distance_from(start);
      const bool is_new = llvm::none_of(candidates, [&](const Candidate& c) { return c.distance == distance; });
      if (place.is_counted_like(start) && distance % bytes == 0 && std::abs(distance) < stride && is_new) {
        candidates.push_back({next, distance, place.added - start.added});
        continue;
      }
    }
    if (is_store || next->mayWriteToMemory()) break;
  }

  // As many as fit between one lane and the next.
  int64_t lowest = 0;
  for (const Candidate& candidate : candidates) lowest = std::min(lowest, candidate.distance);
  int64_t highest = lowest;
  Neighbours result;
  for (const Candidate& candidate : candidates) {
    if (candidate.distance - lowest >= stride) continue;
    const auto place = static_cast<unsigned>((candidate.distance - lowest) / bytes);
    result.members.push_back({candidate.access, place, start.extension ? candidate.index : 0});
    highest = std::max(highest, candidate.distance);
    if (candidate.index != 0) result.extension = start.extension;
  }
  result.element = start.element;
  result.distance = lowest;
  result.count = static_cast<unsigned>((highest - lowest) / bytes) + 1;
  return result;
}

unsigned count_neighbours(const llvm::Instruction& access, int64_t stride, const llvm::DataLayout& layout) {
  const llvm::Type* type = llvm::getLoadStoreType(&access);
  const Place start = place_of(access, /*by_index=*/true, layout);
  llvm::SmallDenseSet<int64_t> distances{0};
  const auto look = [&](const llvm::Instruction* next, auto step) {
    for (unsigned seen = 0; next && seen < furthest; next = step(next), ++seen) {
      if (next->getOpcode() != access.getOpcode() || llvm::getLoadStoreType(next) != type || !is_plain(*next)) continue;
      const Place place = place_of(*next, /*by_index=*/true, layout);
      const int64_t distance = place.distance_from(start);
      if (place.is_counted_like(start) && std::abs(distance) < stride) distances.insert(distance);
    }
  };
  look(access.getNextNode(), [](const llvm::Instruction* at) { return at->getNextNode(); });
  look(access.getPrevNode(), [](const llvm::Instruction* at) { return at->getPrevNode(); });
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue());
  return static_cast<unsigned>(
      std::min<int64_t>(static_cast<int64_t>(distances.size()), std::max<int64_t>(1, stride / bytes)));
}

}  // namespace metalloid::cpu::vector
