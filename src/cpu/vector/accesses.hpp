// The accesses that lanes make together: what one lane wants, and which lanes find theirs side by side.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/DataLayout.h>
#include <llvm/IR/DerivedTypes.h>

#include <optional>

#include "cpu/vector/shape.hpp"

namespace metalloid::cpu::vector {

// More runs than this are no better than a gather.
inline constexpr unsigned most_runs = 8;

struct Run {
  unsigned first, count;
  bool is_one_address;
};

// An access of a lane: `count` scalars side by side.
struct Access {
  llvm::Type* scalar;
  unsigned count;
  int64_t scalar_bytes;
  llvm::Align alignment;

  int64_t bytes() const { return scalar_bytes * count; }
};

Access access_of(llvm::Type* type, llvm::Align alignment, const llvm::DataLayout& layout);

// What a pointer counts from, and how many bytes it is from there, where that is a constant. Accesses that differ by
// constants only have all else in common.
struct Distance {
  llvm::Value* base;
  int64_t bytes;
};
Distance distance_of(llvm::Value* pointer, const llvm::DataLayout& layout);

// Runs of lanes that access neighbours, or the same place.
llvm::SmallVector<Run> runs_of(const Shape& shape, int64_t bytes, bool of_one_address);

// The first lanes of a shape that all others repeat: eight of `table[lane % 8]`.
Shape period_of(Shape shape);

// The distance between lanes, if it is the same constant for all; else 0.
int64_t stride_of(const Shape& shape);

// The shape of lanes that are as far apart as a factor says, where that is 1 and they are neighbours then: as those of
// `x[i * stride]`. Else none.
std::optional<Shape> side_by_side(const Shape& shape, const Access& access);

// Lanes that lie in rows of as many, which may be anywhere: in each, the distance is the same constant.
struct Rows {
  unsigned lanes = 0;  // of a row; 0: they do not, or the rows are no better than a gather
  int64_t stride = 0;
};
// Of so many lanes, which all others repeat. Scalars of so many bytes in short rows that are far apart take more
// shuffles than they are worth.
Rows rows_of(const Shape& shape, unsigned count, int64_t bytes);

// Lanes in parts of as many, each of which has its scalars, in some order, in one vector: where two lanes each read the
// same, or the last lane comes first. Its lowest lane is where the vector begins.
struct Window {
  unsigned first_lane, lowest_lane;
  llvm::SmallVector<int> places;  // of the lanes, in the vector
  unsigned length;                // a power of two
};
// None: they are not so, or no better than a gather, or what each lane accesses is more than a scalar.
llvm::SmallVector<Window> windows_of(const Shape& shape, const Access& access, unsigned width);

// Whether each place of all vectors has one lane.
bool are_orders(llvm::ArrayRef<Window> windows);

// Lanes that far apart do not overlap, and find their scalars at places of one row of them.
bool lies_in_stride(const Access& access, int64_t stride);

// Whether all of a stride is accessed for the sake of the scalars that are wanted of it, and not each by itself.
// Nothing that no lane stores is written.
bool is_loaded_over_stride(int64_t scalars, int64_t wanted);
bool is_stored_over_stride(int64_t scalars, int64_t wanted);

// Which lane each place of an order has.
llvm::SmallVector<int> inverse(llvm::ArrayRef<int> places);

// `count` places, from `first` on, `stride` apart.
llvm::SmallVector<int> every(unsigned count, unsigned stride, unsigned first);

}  // namespace metalloid::cpu::vector
