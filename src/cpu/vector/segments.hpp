// Segments of memory that lanes access in any order, as the rows of a matrix whose elements are spread over a
// SIMD-group are:
//
//     lane     0      1      2      3   ...  8      9   ...  16
//     row 0    0, 1   2, 3                   4, 5   6, 7
//     row 1                  0, 1   2, 3
//     row 4                                                  0, 1   ...
//
// Each is one access, and shuffles bring its scalars to their lanes. Segments follow one another in registers; where a
// scalar of a lane is says its place there.
#pragma once

#include "cpu/vector/accesses.hpp"

namespace metalloid::cpu::vector {

struct Segments {
  struct Start {
    unsigned lane;
    int64_t distance;  // bytes from the lane's address
  };
  llvm::SmallVector<Start> starts;
  unsigned length = 0;                               // of each, in scalars: a power of two
  llvm::SmallVector<llvm::SmallVector<int>> places;  // of each scalar of a lane, in all lanes
  bool has_each_once = false;                        // no two lanes access the same
};

// Of so many scalars of a lane, at these places from its address, in registers of so many scalars. None: the segments
// are too short, or each register of lanes has its scalars in too many registers of segments.
std::optional<Segments> segments_of(const Shape& shape, const Access& access, llvm::ArrayRef<int64_t> distances,
                                    unsigned scalars_of_register);

}  // namespace metalloid::cpu::vector
