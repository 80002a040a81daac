// Batch normalisation of matrices for CPUs. A SIMD-group has a block: columns that are few enough for what belongs to
// them to stay in the nearest cache, and some of their rows.
#include "neuron.h"
#include "rows.h"
#include "streaming.h"

constant uint neuron_type [[function_constant(0)]];
constant uint has_gamma [[function_constant(1)]];
constant uint has_beta [[function_constant(2)]];
constant uint fills_caches [[function_constant(3)]];

constant constexpr uint columns_together = 1024;

struct Blocks {
  NeuronParameters parameters;
  float epsilon;
  uint rows, rows_of_block;
  RowStrides source, result;
  Span span;  // of at most columns_together

  uint first_row(uint block) const constant { return block * rows_of_block; }
  uint end_row(uint block) const constant { return min(first_row(block) + rows_of_block, rows); }
  uint rows_in(uint block) const constant { return end_row(block) - first_row(block); }
};

// Adds to each column of `sums` what `term` makes of the numbers of a block's rows, four rows at a time.
template <typename T, typename Term>
void sum_rows(device const T* source, threadgroup float* sums, constant Blocks& p, uint block, uint place, uint count,
              Term term) {
  const uint end = p.end_row(block);
  const ulong stride = p.source.row;
  uint row = p.first_row(block);
  for (; row + 4 <= end; row += 4) {
    device const T* numbers = source + row * stride;
    for_each_column(place, count, [&](uint i) {
      for (uint k = 4; k < 8; ++k) fetch_ahead(numbers + k * stride + i);
      sums[i] += (term(numbers[i], i) + term(numbers[stride + i], i)) +
                 (term(numbers[2 * stride + i], i) + term(numbers[3 * stride + i], i));
    });
  }
  for (; row < end; ++row) {
    device const T* numbers = source + row * stride;
    for_each_column(place, count, [&](uint i) { sums[i] += term(numbers[i], i); });
  }
}

// Means of a block's rows, then the squares of differences, while they are near: nothing cancels. All pointers are to
// the thread's first column.
template <typename T>
void find_statistics(device const T* source, device float* partial, constant Blocks& p, threadgroup float* means,
                     threadgroup float* squares, uint block, uint place, uint count) {
  for_each_column(place, count, [&](uint i) { means[i] = squares[i] = 0; });
  sum_rows(source, means, p, block, place, count, [](float x, uint) { return x; });
  const float share = 1.0f / p.rows_in(block);
  for_each_column(place, count, [&](uint i) { means[i] *= share; });
  sum_rows(source, squares, p, block, place, count, [&](float x, uint i) {
    const float difference = x - means[i];
    return difference * difference;
  });
  for_each_column(place, count, [&](uint i) {
    partial[i] = means[i];
    partial[p.span.columns + i] = squares[i];
  });
}

template <typename T>
void combine_statistics(device const float* partial, device T* mean, device T* variance, constant Blocks& p) {
  const uint blocks = (p.rows + p.rows_of_block - 1) / p.rows_of_block;
  const ulong stride = 2 * ulong(p.span.columns);
  float sum = 0, squares = 0;
  for (uint block = 0; block < blocks; ++block) sum = fma(partial[block * stride], float(p.rows_in(block)), sum);
  const float average = sum / p.rows;
  for (uint block = 0; block < blocks; ++block) {
    const float difference = partial[block * stride] - average;
    squares += fma(difference * difference, float(p.rows_in(block)), partial[block * stride + p.span.columns]);
  }
  *mean = T(average);
  *variance = T(squares / p.rows);
}

template <typename T, bool streams>
void normalize(device const T* source, device T* result, threadgroup const float* means,
               threadgroup const float* scales, threadgroup const float* shifts, constant Blocks& p, uint block,
               uint place, uint count) {
  for (uint row = p.first_row(block); row < p.end_row(block); ++row) {
    device const T* numbers = source + row * p.source.row;
    device T* results = result + row * p.result.row;
    for_each_column(place, count, [&](uint i) {
      fetch_ahead(numbers + p.source.row + i);
      const float y = fma(float(numbers[i]) - means[i], scales[i], shifts[i]);
      put<streams>(results + i, T(neuron(neuron_type, y, p.parameters)));
    });
  }
}

#define BATCH_BLOCKS(T)                                                                                               \
  [[host_name("batch_statistics_blocks_" #T)]] kernel void batch_statistics_blocks_##T(                               \
      device const T* source [[buffer(0)]], device float* partial [[buffer(1)]], constant Blocks& p [[buffer(2)]],    \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                     \
    threadgroup float means[columns_together], squares[columns_together];                                             \
    const uint first = p.span.first(group.x);                                                                         \
    find_statistics(source + first + place, partial + 2 * ulong(group.y) * p.span.columns + first + place, p,         \
                    means + place, squares + place, group.y, place, p.span.count(group.x));                           \
  }                                                                                                                   \
  [[host_name("batch_statistics_combined_" #T)]] kernel void batch_statistics_combined_##T(                           \
      device const float* partial [[buffer(0)]], device T* mean [[buffer(1)]], device T* variance [[buffer(2)]],      \
      constant Blocks& p [[buffer(3)]], uint column [[thread_position_in_grid]]) {                                    \
    combine_statistics(partial + column, mean + column, variance + column, p);                                        \
  }                                                                                                                   \
  [[host_name("batch_normalization_blocks_" #T)]] kernel void batch_normalization_blocks_##T(                         \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const T* mean [[buffer(2)]],       \
      device const T* variance [[buffer(3)]], device const T* gamma [[buffer(4)]],                                    \
      device const T* beta [[buffer(5)]], constant Blocks& p [[buffer(6)]],                                           \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                     \
    threadgroup float all_means[columns_together], all_scales[columns_together], all_shifts[columns_together];        \
    threadgroup float *means = all_means + place, *scales = all_scales + place, *shifts = all_shifts + place;         \
    const uint first = p.span.first(group.x), count = p.span.count(group.x);                                          \
    mean += first + place, variance += first + place, gamma += first + place, beta += first + place;                  \
    for_each_column(place, count, [&](uint i) {                                                                       \
      means[i] = float(mean[i]);                                                                                      \
      scales[i] = rsqrt(float(variance[i]) + p.epsilon) * (has_gamma ? float(gamma[i]) : 1.0f);                       \
      shifts[i] = has_beta ? float(beta[i]) : 0.0f;                                                                   \
    });                                                                                                               \
    source += group.z * p.source.matrix + first + place;                                                              \
    result += group.z * p.result.matrix + first + place;                                                              \
    if (fills_caches)                                                                                                 \
      normalize<T, true>(source, result, means, scales, shifts, p, group.y, place, count);                            \
    else                                                                                                              \
      normalize<T, false>(source, result, means, scales, shifts, p, group.y, place, count);                           \
  }
METAL_EACH_FLOAT(BATCH_BLOCKS)
