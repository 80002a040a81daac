// Accesses of one lane that lie side by side, as those of the members of a vector or a struct do:
//
//     x = p[4 * i], y = p[4 * i + 1], ...
//
// Lanes leave gaps between their accesses that the next accesses fill; made together, there are none.
//
// An index of 32 bits may wrap around between two of them, here where 4 * i + 1 does and 4 * i does not: they are
// neighbours if it is extended by `extension` and, in no lane, leaves its type on the way from the lowest to the
// highest.
#pragma once

#include <llvm/IR/Instructions.h>

namespace metalloid::cpu::vector {

// Where a load or a store is: base + element * (index + added) + offset, where the sum may be one of fewer bits that is
// extended; or base + offset.
struct Place {
  const llvm::Value* base;
  int64_t offset;
  const llvm::Value* index = nullptr;
  const llvm::CastInst* extension = nullptr;
  int64_t added = 0;
  uint64_t element = 0;

  // Bytes, if they are counted alike, and from the same base.
  int64_t distance_from(const Place& other) const {
    return offset - other.offset + static_cast<int64_t>(element) * (added - other.added);
  }

  bool has_index_of(const Place& other) const;
  bool is_counted_like(const Place& other) const { return base == other.base && has_index_of(other); }
};
Place place_of(const llvm::Instruction& access, bool by_index, const llvm::DataLayout& layout);

struct Neighbours {
  struct Member {
    llvm::Instruction* access;
    unsigned place;     // in scalars, from the lowest
    int64_t index = 0;  // how much larger its index is than that of the first member, before it is extended
  };
  llvm::SmallVector<Member, 4> members;       // in the order of the block; the first is what was asked for
  int64_t distance = 0;                       // bytes from the address of the first member to the lowest
  unsigned count = 1;                         // scalars from the lowest to the highest
  const llvm::CastInst* extension = nullptr;  // of the first member's index; null: all have the same
  uint64_t element = 0;                       // bytes that the index counts

  int64_t lowest_index() const;
  int64_t highest_index() const;
};

inline constexpr int64_t furthest_neighbour = 64;  // bytes, where lanes are anywhere

// Those of `first`, a load or a store, in its block and less than `stride` bytes apart, that can be made at the same
// time: loads with the first, stores with the last. Without `by_index`, only those that are neighbours whatever the
// index.
Neighbours find_neighbours(llvm::Instruction& first, int64_t stride, bool by_index, const llvm::DataLayout& layout);

// How many scalars a lane accesses within `stride` bytes of this one, in its block: those that end up together, or
// nearly so.
unsigned count_neighbours(const llvm::Instruction& access, int64_t stride, const llvm::DataLayout& layout);

}  // namespace metalloid::cpu::vector
