// Columns of a SIMD-group of a CPU: few enough for numbers that belong to them, which are in the threadgroup's memory, to
// stay in the nearest cache, while rows pass by, which lie so far apart that processors are told what comes next: it is
// asked for into the nearest cache, or the second. All pointers are to the thread's first column.
#pragma once

#include "rows.h"
#include "streaming.h"

constant constexpr uint columns_together = 1024;

// Adds to each column's sums, which are of differences from its number in the first row and of their squares.
template <uint rows, bool near, typename T>
void sum_rows(device const T* numbers, ulong stride, device const T* first_row, threadgroup float* sums,
              threadgroup float* squares, uint place, uint count) {
  for_each_column(place, count, [&](uint i) {
    const float origin = first_row[i];
    float sum = 0, square = 0;
    for (uint k = 0; k < rows; ++k) {
      fetch_ahead<near>(numbers + (rows + k) * stride + i);
      const float difference = float(numbers[k * stride + i]) - origin;
      sum += difference;
      square = fma(difference, difference, square);
    }
    sums[i] += sum;
    squares[i] += square;
  });
}

// Means of rows, and the sums of squared differences from them. The numbers of the first row are as near to the means as
// numbers are, so that what cancels is small beside the variance.
template <bool near, typename T>
void find_means(device const T* source, ulong stride, uint first, uint end, threadgroup float* means,
                threadgroup float* squares, uint place, uint count) {
  constexpr uint together = 4;
  device const T* first_row = source + first * stride;
  for_each_column(place, count, [&](uint i) { means[i] = squares[i] = 0; });
  uint row = first;
  for (; row + together <= end; row += together)
    sum_rows<together, near>(source + row * stride, stride, first_row, means, squares, place, count);
  for (; row < end; ++row) sum_rows<1, near>(source + row * stride, stride, first_row, means, squares, place, count);
  const float share = 1.0f / (end - first);
  for_each_column(place, count, [&](uint i) {
    const float sum = means[i], difference = sum * share;
    means[i] = float(first_row[i]) + difference;
    squares[i] = fma(-sum, difference, squares[i]);
  });
}

// What `make` makes of each number and its column.
template <uint rows, bool streams, bool near, typename T, typename Make>
void write_rows(device const T* source, ulong source_stride, device T* result, ulong result_stride, uint place,
                uint count, Make make) {
  for_each_column(place, count, [&](uint i) {
    const auto made = make(i);
    for (uint k = 0; k < rows; ++k) {
      fetch_ahead<near>(source + (rows + k) * source_stride + i);
      put<streams>(result + k * result_stride + i, T(made(float(source[k * source_stride + i]))));
    }
  });
}
template <bool streams, bool near, typename T, typename Make>
void write_rows(device const T* source, ulong source_stride, device T* result, ulong result_stride, uint first,
                uint end, uint place, uint count, Make make) {
  uint row = first;
  for (; row + 2 <= end; row += 2)
    write_rows<2, streams, near>(source + row * source_stride, source_stride, result + row * result_stride,
                                 result_stride, place, count, make);
  for (; row < end; ++row)
    write_rows<1, streams, near>(source + row * source_stride, source_stride, result + row * result_stride,
                                 result_stride, place, count, make);
}
