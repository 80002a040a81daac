// Rows of matrices, each done by one threadgroup: where its numbers are, and what its threads find out together.
#pragma once

#include "types.h"

struct RowStrides {
  ulong row, matrix;  // numbers
};

// Calls `visit` with 0, n, 2n, …, which, from its own place on, are the columns of one of n threads that share them. All
// threads do most of it together, without masks.
template <typename Visit>
void for_each_column(uint place, uint threads, uint columns, Visit visit) {
  uint i = 0;
  for (; i + threads <= columns; i += threads) visit(i);
  if (i + place < columns) visit(i);
}
// In a row that a SIMD-group has to itself.
template <typename Visit>
void for_each_column(uint place, uint columns, Visit visit) {
  for_each_column(place, 32, columns, visit);
}

// Likewise, but from the last column that all threads have to the first if it goes `backward`.
template <typename Visit>
void for_each_column(uint place, uint columns, bool backward, Visit visit) {
  const uint of_all = columns / 32 * 32;
  for (uint i = 0; i < of_all; i += 32) visit(backward ? of_all - 32 - i : i);
  if (of_all + place < columns) visit(of_all);
}

// The columns of a row that a threadgroup has, for work that takes number by number.
struct Span {
  uint columns, most;  // of the row, and of a threadgroup

  uint first(uint group) const constant { return group * most; }
  uint count(uint group) const constant { return min(most, columns - first(group)); }
};

// What `combine` makes of the values of all threads of a threadgroup; `shared` has room for each SIMD-group's.
template <typename Combine, typename InSimdgroup>
float over_threadgroup(float value, threadgroup float* shared, uint simdgroup, uint simdgroups, Combine combine,
                       InSimdgroup in_simdgroup) {
  value = in_simdgroup(value);
  if (simdgroups == 1) return value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simd_is_first()) shared[simdgroup] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  value = shared[0];
  for (uint i = 1; i < simdgroups; ++i) value = combine(value, shared[i]);
  return value;
}

inline float max_over_threadgroup(float value, threadgroup float* shared, uint simdgroup, uint simdgroups) {
  return over_threadgroup(
      value, shared, simdgroup, simdgroups, [](float a, float b) { return max(a, b); },
      [](float x) { return simd_max(x); });
}

inline float sum_over_threadgroup(float value, threadgroup float* shared, uint simdgroup, uint simdgroups) {
  return over_threadgroup(
      value, shared, simdgroup, simdgroups, [](float a, float b) { return a + b; }, [](float x) { return simd_sum(x); });
}

constant constexpr uint most_simdgroups = 32;
