#include "cpu/vector/neighbours.hpp"

#include <llvm/ADT/APInt.h>
#include <llvm/ADT/DenseSet.h>
#include <llvm/IR/DataLayout.h>

#include <algorithm>

namespace metalloid::cpu::vector {

namespace {

constexpr unsigned furthest = 400;  // instructions

struct Place {
  const llvm::Value* base;
  int64_t offset;
};

Place place_of(const llvm::Instruction& access, const llvm::DataLayout& layout) {
  const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const llvm::Value* base = pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return {base, offset.getSExtValue()};
}

bool is_plain(const llvm::Instruction& instruction) {
  return !instruction.isAtomic() && !instruction.isVolatile();
}

}  // namespace

Neighbours find_neighbours(llvm::Instruction& first, int64_t stride, const llvm::DataLayout& layout) {
  llvm::Type* type = llvm::getLoadStoreType(&first);
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(type).getFixedValue());
  const Place start = place_of(first, layout);
  const bool is_store = llvm::isa<llvm::StoreInst>(first);

  struct Candidate {
    llvm::Instruction* access;
    int64_t offset;
  };
  llvm::SmallVector<Candidate> candidates{{&first, start.offset}};
  unsigned seen = 0;
  for (llvm::Instruction* next = first.getNextNode(); next && ++seen < furthest; next = next->getNextNode()) {
    if (!next->mayReadOrWriteMemory()) continue;
    const bool is_same_kind = is_store ? llvm::isa<llvm::StoreInst>(next) : llvm::isa<llvm::LoadInst>(next);
    if (is_same_kind && is_plain(*next) && llvm::getLoadStoreType(next) == type) {
      const Place place = place_of(*next, layout);
      const int64_t distance = place.offset - start.offset;
      const bool is_new = llvm::none_of(candidates, [&](const Candidate& c) { return c.offset == place.offset; });
      if (place.base == start.base && distance % bytes == 0 && std::abs(distance) < stride && is_new) {
        candidates.push_back({next, place.offset});
        continue;
      }
    }
    if (is_store || next->mayWriteToMemory()) break;
  }

  // As many as fit between one lane and the next.
  int64_t lowest = start.offset;
  for (const Candidate& candidate : candidates) lowest = std::min(lowest, candidate.offset);
  int64_t highest = lowest;
  Neighbours result;
  for (const Candidate& candidate : candidates) {
    if (candidate.offset - lowest >= stride) continue;
    result.members.push_back({candidate.access, static_cast<unsigned>((candidate.offset - lowest) / bytes)});
    highest = std::max(highest, candidate.offset);
  }
  result.distance = lowest - start.offset;
  result.count = static_cast<unsigned>((highest - lowest) / bytes) + 1;
  return result;
}

unsigned count_neighbours(const llvm::Instruction& access, int64_t stride, const llvm::DataLayout& layout) {
  const llvm::Type* type = llvm::getLoadStoreType(&access);
  const Place start = place_of(access, layout);
  llvm::SmallDenseSet<int64_t> offsets{start.offset};
  const auto look = [&](const llvm::Instruction* next, auto step) {
    for (unsigned seen = 0; next && seen < furthest; next = step(next), ++seen) {
      if (next->getOpcode() != access.getOpcode() || llvm::getLoadStoreType(next) != type || !is_plain(*next)) continue;
      const Place place = place_of(*next, layout);
      if (place.base == start.base && std::abs(place.offset - start.offset) < stride) offsets.insert(place.offset);
    }
  };
  look(access.getNextNode(), [](const llvm::Instruction* at) { return at->getNextNode(); });
  look(access.getPrevNode(), [](const llvm::Instruction* at) { return at->getPrevNode(); });
  const auto bytes = static_cast<int64_t>(layout.getTypeStoreSize(llvm::getLoadStoreType(&access)).getFixedValue());
  return static_cast<unsigned>(
      std::min<int64_t>(static_cast<int64_t>(offsets.size()), std::max<int64_t>(1, stride / bytes)));
}

}  // namespace metalloid::cpu::vector
