// For GPUs. The threads of a threadgroup bring x into threadgroup memory tile by tile, with the norm's weights on it, and
// each of its SIMD-groups has a row or two, of which every thread reads 8 numbers at a time: 16 bytes of halves. All reads
// of a tile are on their way before its x is there, since what makes memory fast is how much is asked of it at once.
#include "matmul_vec.h"

constant uint rows_of_simdgroup [[function_constant(3)]];  // 1 or 2
constant uint aligned_rows [[function_constant(4)]];       // every row begins at a multiple of 16 bytes

constant constexpr uint each = 8, most_rows = 2;

// How many numbers of x are in threadgroup memory at a time. Rows of the usual length are one tile or a few: a thread has
// 128 bytes of each row on their way.
template <typename W>
constant constexpr uint steps_of_tile = sizeof(W) == 4 ? 4 : 8;
template <typename W>
constant constexpr uint tile_for = steps_of_tile<W> * 32 * each;

// Where a number of the tile is: the first four of every eight, and behind them the others, so that what threads read side
// by side lies side by side.
inline uint place_in_tile(uint i, uint tile) {
  return i / 8 * 4 + i % 4 + i / 4 % 2 * (tile / 2);
}

// Eight numbers of a row as they are in memory: they become floats when they are multiplied, so that nobody has to wait for
// them before.
template <typename W>
struct Eight {
  W numbers[each];

  Eight() = default;
  Eight(device const W* row, uint column) {
    constexpr uint in_word = 16 / sizeof(W);
    #pragma unroll
    for (uint i = 0; i < each; i += in_word) {
      if (aligned_rows) {
        const uint4 word = *(device const uint4*)(row + column + i);
        #pragma unroll
        for (uint k = 0; k < in_word; ++k) numbers[i + k] = number_in(word, k, W());
      } else {
        #pragma unroll
        for (uint k = 0; k < in_word; ++k) numbers[i + k] = row[column + i + k];
      }
    }
  }
  float at(uint i) const { return float(numbers[i]); }

 private:
  static float number_in(uint4 word, uint i, float) { return as_type<float>(word[i]); }
  template <typename Small>
  static Small number_in(uint4 word, uint i, Small) {
    return as_type<vec<Small, 2>>(word[i / 2])[i % 2];
  }
};
template <>
struct Eight<q8_0> {
  half scale;
  char numbers[each];

  Eight() = default;
  Eight(device const q8_0* row, uint column) {
    device const q8_0& block = row[column / 32];
    scale = block.scale;
    #pragma unroll
    for (uint i = 0; i < each; ++i) numbers[i] = block.numbers[column % 32 + i];
  }
  float at(uint i) const { return float(scale) * float(numbers[i]); }
};

// The number in a column of a row that has no eight more.
template <typename W>
float one_of(device const W* row, uint column) {
  return float(row[column]);
}
template <>
float one_of<q8_0>(device const q8_0* row, uint column) {
  return float(row[column / 32].scale) * float(row[column / 32].numbers[column % 32]);
}

template <typename W>
device const W* row_of(device const W* weights, uint columns, uint row) {
  return weights + ulong(row) * columns;
}
template <>
device const q8_0* row_of<q8_0>(device const q8_0* weights, uint columns, uint row) {
  return weights + ulong(row) * (columns / 32);
}

template <typename T>
float norm_weight(device const void* weights, uint i) {
  return norm_weights == 1 ? ((device const float*)weights)[i] : float(((device const T*)weights)[i]);
}

template <typename T, typename W>
kernel void matmul_vec_tiled_kernel(device const T* x [[buffer(0)]], device const void* norm [[buffer(1)]],
                                    device const W* weights_0 [[buffer(2)]], device const W* weights_1 [[buffer(3)]],
                                    device const W* weights_2 [[buffer(4)]], device T* result_0 [[buffer(5)]],
                                    device T* result_1 [[buffer(6)]], device T* result_2 [[buffer(7)]],
                                    constant VectorProducts& products [[buffer(8)]],
                                    uint group [[threadgroup_position_in_grid]],
                                    uint lane [[thread_index_in_simdgroup]],
                                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  constexpr uint tile = tile_for<W>, steps = steps_of_tile<W>;
  threadgroup float tile_of_x[tile];
  threadgroup float shared[most_simdgroups];
  const Share<T, W> share(weights_0, weights_1, weights_2, result_0, result_1, result_2, products, group);
  const uint columns = products.columns, last = share.rows - 1;
  const uint first = (share.group * simdgroups + simdgroup) * rows_of_simdgroup;
  device const W* rows[2 * most_rows];
  #pragma unroll
  for (uint i = 0; i < most_rows; ++i) {
    rows[i] = row_of(share.weights, columns, min(first + i, last));
    rows[most_rows + i] = row_of(share.other, columns, min(first + i, last));
  }
  float sums[2 * most_rows] = {}, squares = 0;
  const auto is_used = [](uint i) { return i % most_rows < rows_of_simdgroup && (gated || i < most_rows); };
  const auto multiply = [&](uint i, uint j, thread const Eight<W>& numbers) {
    #pragma unroll
    for (uint k = 0; k < each; ++k) sums[i] += numbers.at(k) * tile_of_x[place_in_tile(j + k, tile)];
  };
  for (uint start = 0; start < columns; start += tile) {
    const uint there = min(columns - start, tile), whole = there / (32 * each) * (32 * each);
    Eight<W> numbers[steps][2 * most_rows];
    #pragma unroll
    for (uint step = 0; step < steps; ++step)
      if (step * 32 * each < whole)
        #pragma unroll
        for (uint i = 0; i < 2 * most_rows; ++i)
          if (is_used(i)) numbers[step][i] = Eight<W>(rows[i], start + (step * 32 + lane) * each);

    if (start != 0) threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = simdgroup * 32 + lane; i < there; i += simdgroups * 32) {
      float value = float(x[start + i]);
      if (norm_weights != 0) {
        squares += value * value;
        value *= norm_weight<T>(norm, start + i);
      }
      tile_of_x[place_in_tile(i, tile)] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint i = 0; i < 2 * most_rows; ++i) {
      if (!is_used(i)) continue;
      #pragma unroll
      for (uint step = 0; step < steps; ++step)
        if (step * 32 * each < whole) multiply(i, (step * 32 + lane) * each, numbers[step][i]);
      const uint beyond = whole + lane * each, rest = there / each * each + lane;
      if (beyond + each <= there) multiply(i, beyond, Eight<W>(rows[i], start + beyond));
      if (rest < there) sums[i] += one_of(rows[i], start + rest) * tile_of_x[place_in_tile(rest, tile)];
    }
  }

  float factor = 1;
  if (norm_weights != 0)
    factor = rsqrt(sum_over_threadgroup(squares, shared, simdgroup, simdgroups) / columns + products.epsilon);
  #pragma unroll
  for (uint i = 0; i < 2 * most_rows; ++i)
    if (is_used(i)) sums[i] = simd_sum(sums[i]) * factor;
  if (lane != 0) return;
  #pragma unroll
  for (uint i = 0; i < most_rows; ++i)
    if (i < rows_of_simdgroup && first + i <= last)
      share.put(first + i, gated ? silu_of(sums[i]) * sums[most_rows + i] : sums[i]);
}

#define MATMUL_VEC_TILED(W, T, name) MATMUL_VEC_AS(matmul_vec_tiled_kernel, W, T, name, uint, uint, uint, uint)
METAL_EACH_PRODUCT(MATMUL_VEC_TILED)
