// Batch normalisation of matrices, and of images whose pixels are rows, for CPUs. A SIMD-group has a block: some columns
// of some rows. Results begin with the blocks that statistics ended with and the caches still have, as all dispatches do.
#include "columns.h"
#include "neuron.h"

constant uint asks_near [[function_constant(0)]];  // for what comes next, into the nearest cache
constant uint neuron_type [[function_constant(1)]];
constant uint has_gamma [[function_constant(2)]];
constant uint has_beta [[function_constant(3)]];
constant uint fills_caches [[function_constant(4)]];

struct Blocks {
  NeuronParameters parameters;
  float epsilon;
  uint rows, rows_of_block;
  RowStrides source, result;
  Span span;  // of at most columns_together

  uint blocks() const constant { return (rows + rows_of_block - 1) / rows_of_block; }
  uint first_row(uint block) const constant { return block * rows_of_block; }
  uint end_row(uint block) const constant { return min(first_row(block) + rows_of_block, rows); }
  uint rows_in(uint block) const constant { return end_row(block) - first_row(block); }
};

template <typename T>
void combine_statistics(device const float* partial, device T* mean, device T* variance, constant Blocks& p) {
  const uint blocks = p.blocks();
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

template <typename T, bool streams, bool near>
void normalize(device const T* source, device T* result, threadgroup const float* means,
               threadgroup const float* scales, threadgroup const float* shifts, constant Blocks& p, uint block,
               uint place, uint count) {
  write_rows<streams, near>(
      source, p.source.row, result, p.result.row, p.first_row(block), p.end_row(block), place, count, [&](uint i) {
        const float mean = means[i], scale = scales[i], shift = shifts[i];
        return [=, &p](float x) { return neuron(neuron_type, fma(x - mean, scale, shift), p.parameters); };
      });
}

#define BATCH_BLOCKS(T)                                                                                               \
  [[host_name("batch_statistics_blocks_" #T)]] kernel void batch_statistics_blocks_##T(                               \
      device const T* source [[buffer(0)]], device float* partial [[buffer(1)]], constant Blocks& p [[buffer(2)]],    \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                     \
    threadgroup float all_means[columns_together], all_squares[columns_together];                                     \
    threadgroup float *means = all_means + place, *squares = all_squares + place;                                     \
    const uint first = p.span.first(group.x), count = p.span.count(group.x);                                          \
    partial += 2 * ulong(group.y) * p.span.columns + first + place;                                                   \
    source += first + place;                                                                                          \
    const uint start = p.first_row(group.y), end = p.end_row(group.y);                                                \
    if (asks_near)                                                                                                    \
      find_means<true>(source, p.source.row, start, end, means, squares, place, count);                               \
    else                                                                                                              \
      find_means<false>(source, p.source.row, start, end, means, squares, place, count);                              \
    for_each_column(place, count, [&](uint i) {                                                                       \
      partial[i] = means[i];                                                                                          \
      partial[p.span.columns + i] = squares[i];                                                                       \
    });                                                                                                               \
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
    if (fills_caches && asks_near)                                                                                    \
      normalize<T, true, true>(source, result, means, scales, shifts, p, group.y, place, count);                      \
    else if (fills_caches)                                                                                            \
      normalize<T, true, false>(source, result, means, scales, shifts, p, group.y, place, count);                     \
    else                                                                                                              \
      normalize<T, false, false>(source, result, means, scales, shifts, p, group.y, place, count);                     \
  }
METAL_EACH_FLOAT(BATCH_BLOCKS)
