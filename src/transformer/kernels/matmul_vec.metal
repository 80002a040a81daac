// For CPUs, where a SIMD-group is a vector, and a threadgroup has one. It has a few rows, one after the other, and of two
// matrices first those of one: so memory is read from front to back, as processors expect it, and x is in the nearest
// cache anyway. There is no norm: a kernel of its own before this one costs less than taking it along.
#include "matmul_vec.h"

constant uint rows_of_threadgroup [[function_constant(3)]];
constant uint bytes_ahead [[function_constant(4)]];  // that weights are asked for before they are read; 0: not at all

// The sum of a function of every step of a row, formed in two halves that do not wait for each other. Several steps are
// written out one behind the other, because processors look ahead in what they have begun.
template <typename Function>
float sum_over_row(uint columns, uint lane, Function function) {
  constexpr uint at_once = 8;
  const uint steps = columns / 32;
  float even = 0, odd = 0;
  uint step = 0;
  for (; step + at_once <= steps; step += at_once) {
    #pragma unroll
    for (uint k = 0; k < at_once; k += 2) {
      even += function(step + k);
      odd += function(step + k + 1);
    }
  }
  for (; step < steps; ++step) even += function(step);
  if (lane < columns % 32) odd += function(steps);
  return simd_sum(even + odd);
}

// The products with rows that follow each other, of each in a lane of its own.
template <typename T, typename W>
float products_with_rows(WeightRow<T> numbers, device const W* weights, uint columns, uint first, uint rows, uint lane) {
  float own = 0;
  for (uint k = 0; k < rows; ++k) {
    const WeightRow<W> row(weights, columns, first + k, lane);
    const float sum = sum_over_row(columns, lane, [&](uint step) {
      if (bytes_ahead > 0) row.fetch(step, bytes_ahead);
      return numbers.at(step) * row.at(step);
    });
    own = lane == k ? sum : own;
  }
  return own;
}

template <typename T, typename W>
kernel void matmul_vec_kernel(device const T* x [[buffer(0)]], device const void* norm [[buffer(1)]],
                              device const W* weights_0 [[buffer(2)]], device const W* weights_1 [[buffer(3)]],
                              device const W* weights_2 [[buffer(4)]], device T* result_0 [[buffer(5)]],
                              device T* result_1 [[buffer(6)]], device T* result_2 [[buffer(7)]],
                              constant VectorProducts& products [[buffer(8)]],
                              uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const Share<T, W> share(weights_0, weights_1, weights_2, result_0, result_1, result_2, products, group);
  const uint columns = products.columns, first = share.group * rows_of_threadgroup;
  const uint rows = min(rows_of_threadgroup, share.rows - first);
  const WeightRow<T> numbers(x, columns, 0, lane);
  float own = products_with_rows(numbers, share.weights, columns, first, rows, lane);
  if (gated) own = silu_of(own) * products_with_rows(numbers, share.other, columns, first, rows, lane);
  if (lane < rows) share.put(first + lane, own);
}

#define MATMUL_VEC(W, T, name) MATMUL_VEC_AS(matmul_vec_kernel, W, T, name, constant VectorProducts&, uint, uint)
METAL_EACH_PRODUCT(MATMUL_VEC)
