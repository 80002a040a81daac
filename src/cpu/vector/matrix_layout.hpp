// Which lane has which elements of a simdgroup matrix: 8×8, two elements of a row in each of 32 lanes
// (docs/builtins.md).
#pragma once

namespace metalloid::cpu::vector {

constexpr unsigned matrix_size = 8;

constexpr unsigned row_of(unsigned lane) {
  return (lane / 4 & 4) + (lane / 2 & 3);
}

// Of the first of its two elements.
constexpr unsigned column_of(unsigned lane) {
  return (lane / 4 & 2) * 2 + (lane & 1) * 2;
}

// The lane that has elements (row, column) and (row, column + 1), column being even.
constexpr unsigned lane_of(unsigned row, unsigned column) {
  return (row & 4) * 4 + (column & 4) * 2 + (row & 3) * 2 + column / 2 % 2;
}

}  // namespace metalloid::cpu::vector
