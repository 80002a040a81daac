// For GPUs. The threads of a threadgroup bring x into threadgroup memory, with the norm's weights on it, and each of its
// SIMD-groups has a row or two, of which every thread reads 8 numbers at a time: 16 bytes of halves. All reads of a tile are
// on their way before its x is there, since what makes memory fast is how much is asked of it at once. For the same reason
// a tile is a whole row, if registers can hold what a thread has of it, and the sizes are constants of the kernel: nobody
// waits for them.
#include "matmul_vec.h"

constant uint rows_of_simdgroup [[function_constant(3)]];  // 1 or 2
constant uint aligned_rows [[function_constant(4)]];       // every row begins at a multiple of 16 bytes
constant uint columns [[function_constant(5)]];
constant uint rows_0 [[function_constant(6)]];
constant uint rows_1 [[function_constant(7)]];
constant uint rows_2 [[function_constant(8)]];
constant uint epsilon_bits [[function_constant(9)]];  // of a float
constant uint turned [[function_constant(10)]];       // the first two results: 1: by neighbouring pairs, 2: by halves
constant uint head_size [[function_constant(11)]];
constant uint pairs [[function_constant(12)]];  // of a head; what is beyond stays

constant constexpr uint each = 8, step_width = 32 * each, most_rows = 2, most_steps = 24, simdgroups = 8;
static_assert(simdgroups * 32 == step_width, "a thread brings one number of x for each step");

// Numbers of x in threadgroup memory at a time, in steps of what a SIMD-group reads at once.
template <typename W>
uint steps_of_tile() {
  const uint most = (sizeof(W) == 4 ? most_steps / 2 : most_steps) / (rows_of_simdgroup * (gated ? 2 : 1));
  return min((columns + step_width - 1) / step_width, most);
}

struct Places {
  ulong first[3];  // of results in their buffers
  uint position;   // of the token, for turning
};

// Rows whose results are turned together are those of neighbouring SIMD-groups.
inline uint row_at(uint i, bool is_turned) {
  const uint within = i % head_size;
  return is_turned && turned == 2 && within < 2 * pairs ? i - within + within / 2 + within % 2 * pairs : i;
}

inline VectorProducts products_of_constants() {
  const uint of_group = simdgroups * rows_of_simdgroup;
  const uint second = (rows_0 + of_group - 1) / of_group, third = second + (rows_1 + of_group - 1) / of_group;
  return {columns, {rows_0, rows_1, rows_2}, {0, second, third}, as_type<float>(epsilon_bits)};
}

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

// What a SIMD-group has of a pair, turned with what its neighbour has.
inline float turned_with_neighbour(float value, uint row, uint position, device const float* frequencies,
                                   threadgroup float* shared, uint lane, uint simdgroup) {
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) shared[simdgroup] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint within = row % head_size;
  if (within >= 2 * pairs) return value;
  const float other = shared[simdgroup ^ 1], angle = float(position) * frequencies[within / 2];
  const float c = cos(angle), s = sin(angle);
  return within % 2 == 0 ? value * c - other * s : value * c + other * s;
}

template <typename T, typename W>
kernel void matmul_vec_tiled_kernel(device const T* x [[buffer(0)]], device const void* norm [[buffer(1)]],
                                    device const W* weights_0 [[buffer(2)]], device const W* weights_1 [[buffer(3)]],
                                    device const W* weights_2 [[buffer(4)]], device T* result_0 [[buffer(5)]],
                                    device T* result_1 [[buffer(6)]], device T* result_2 [[buffer(7)]],
                                    constant Places& places [[buffer(8)]],
                                    device const float* frequencies [[buffer(9)]],
                                    uint group [[threadgroup_position_in_grid]],
                                    uint lane [[thread_index_in_simdgroup]],
                                    uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float tile_of_x[most_steps * step_width];
  threadgroup float shared[most_simdgroups];
  const VectorProducts products = products_of_constants();
  const Share<T, W> share(weights_0, weights_1, weights_2, result_0 + places.first[0], result_1 + places.first[1],
                          result_2 + places.first[2], products, group);
  const uint last = share.rows - 1, steps = steps_of_tile<W>(), tile = steps * step_width;
  const uint first = (share.group * simdgroups + simdgroup) * rows_of_simdgroup;
  const bool is_turned = turned != 0 && !share.is_third;
  device const W* rows[2 * most_rows];
  #pragma unroll
  for (uint i = 0; i < most_rows; ++i) {
    rows[i] = row_of(share.weights, columns, min(row_at(first + i, is_turned), last));
    rows[most_rows + i] = row_of(share.other, columns, min(row_at(first + i, is_turned), last));
  }
  float sums[2 * most_rows] = {}, squares = 0;
  const auto is_used = [](uint i) { return i % most_rows < rows_of_simdgroup && (gated || i < most_rows); };
  const auto multiply = [&](uint i, uint j, thread const Eight<W>& numbers) {
    #pragma unroll
    for (uint k = 0; k < each; ++k) sums[i] += numbers.at(k) * tile_of_x[place_in_tile(j + k, tile)];
  };
  for (uint start = 0; start < columns; start += tile) {
    const uint there = min(columns - start, tile), whole = there / step_width * step_width;
    Eight<W> numbers[most_steps][2 * most_rows];
    #pragma unroll
    for (uint step = 0; step < most_steps; ++step)
      if (step < steps && step * step_width < whole)
        #pragma unroll
        for (uint i = 0; i < 2 * most_rows; ++i)
          if (is_used(i)) numbers[step][i] = Eight<W>(rows[i], start + (step * 32 + lane) * each);

    // A step has a number for each thread.
    float values[most_steps], norms[most_steps];
    #pragma unroll
    for (uint step = 0; step < most_steps; ++step) {
      const uint i = step * step_width + simdgroup * 32 + lane;
      const bool is_there = step < steps && i < there;
      values[step] = is_there ? float(x[start + i]) : 0;
      norms[step] = is_there && norm_weights != 0 ? norm_weight<T>(norm, start + i) : 1;
    }
    if (start != 0) threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint step = 0; step < most_steps; ++step) {
      if (step >= steps) continue;
      squares += values[step] * values[step];
      tile_of_x[place_in_tile(step * step_width + simdgroup * 32 + lane, tile)] = values[step] * norms[step];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint i = 0; i < 2 * most_rows; ++i) {
      if (!is_used(i)) continue;
      #pragma unroll
      for (uint step = 0; step < most_steps; ++step)
        if (step < steps && step * step_width < whole) multiply(i, (step * 32 + lane) * each, numbers[step][i]);
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
  if (is_turned) sums[0] = turned_with_neighbour(sums[0], first, places.position, frequencies, shared, lane, simdgroup);
  if (lane != 0) return;
  #pragma unroll
  for (uint i = 0; i < most_rows; ++i)
    if (i < rows_of_simdgroup && first + i <= last)
      share.put(row_at(first + i, is_turned), gated ? silu_of(sums[i]) * sums[most_rows + i] : sums[i]);
}

#define MATMUL_VEC_TILED(W, T, name) MATMUL_VEC_AS(matmul_vec_tiled_kernel, W, T, name, constant Places&, device const float*, uint, uint, uint)
METAL_EACH_PRODUCT(MATMUL_VEC_TILED)
