// Columns of a SIMD-group of a CPU: few enough for numbers that belong to them, which are in the threadgroup's memory, to
// stay in the nearest cache, while rows pass by, which lie so far apart that processors are told what comes next. All
// pointers are to the thread's first column.
#pragma once

#include "rows.h"
#include "streaming.h"

constant constexpr uint columns_together = 1024;

// Adds to each column's sum what `term` makes of its numbers and the column, four rows at a time.
template <typename T, typename Term>
void sum_rows(device const T* source, ulong stride, uint first, uint end, threadgroup float* sums, uint place,
              uint count, Term term) {
  uint row = first;
  for (; row + 4 <= end; row += 4) {
    device const T* numbers = source + row * stride;
    for_each_column(place, count, [&](uint i) {
      for (uint k = 4; k < 8; ++k)
        fetch_ahead(numbers + k * stride + i);
      sums[i] += (term(numbers[i], i) + term(numbers[stride + i], i)) +
                 (term(numbers[2 * stride + i], i) + term(numbers[3 * stride + i], i));
    });
  }
  for (; row < end; ++row) {
    device const T* numbers = source + row * stride;
    for_each_column(place, count, [&](uint i) { sums[i] += term(numbers[i], i); });
  }
}

// Means of rows, then the squares of differences while they are near, which are added: nothing cancels.
template <typename T>
void find_means(device const T* source, ulong stride, uint first, uint end, threadgroup float* means,
                threadgroup float* squares, uint place, uint count) {
  for_each_column(place, count, [&](uint i) { means[i] = 0; });
  sum_rows(source, stride, first, end, means, place, count, [](float x, uint) { return x; });
  const float share = 1.0f / (end - first);
  for_each_column(place, count, [&](uint i) { means[i] *= share; });
  sum_rows(source, stride, first, end, squares, place, count, [&](float x, uint i) {
    const float difference = x - means[i];
    return difference * difference;
  });
}

// What `make` makes of each number and its column.
template <bool streams, typename T, typename Make>
void write_rows(device const T* source, ulong source_stride, device T* result, ulong result_stride, uint first,
                uint end, uint place, uint count, Make make) {
  for (uint row = first; row < end; ++row) {
    device const T* numbers = source + row * source_stride;
    device T* results = result + row * result_stride;
    for_each_column(place, count, [&](uint i) {
      fetch_ahead(numbers + source_stride + i);
      put<streams>(results + i, T(make(float(numbers[i]), i)));
    });
  }
}
