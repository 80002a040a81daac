// C = alpha op(A) op(B) + beta C by products of simdgroup matrices, with sums of float.
//
// A threadgroup has a tile of C. Step by step along the interior its threads bring the parts of A and B they need into
// threadgroup memory, where everything is in order: transposed if it has to be, and zero beyond the edges. On a GPU four
// SIMD-groups share a tile of 64 x 64; on a CPU, where they would take turns, one has a tile of 32 x 32.
#include <metal_simdgroup_matrix>

#include "product.h"

constant uint transpose_left [[function_constant(0)]];
constant uint transpose_right [[function_constant(1)]];

constant constexpr uint parts = 4, own = parts * 8, depth = 32, padding = 8;

// A block of the matrix op(from), of which `there_down` rows and `there_across` columns are there.
template <typename T, uint down, uint across, uint threads>
void stage(device const T* from, ulong stride, bool transposed, uint there_down, uint there_across, threadgroup T* to,
           uint place) {
  const bool whole = there_down >= down && there_across >= across;
  if (transposed) {
    for (uint i = place; i < down * across; i += threads) {
      const uint x = i / down, y = i % down;
      to[y * (across + padding) + x] =
          whole || (x < there_across && y < there_down) ? from[x * stride + y] : T(0);
    }
  } else if (whole) {
    #pragma unroll
    for (uint i = 0; i < down * across / threads; ++i) {
      const uint y = (i * threads + place) / across, x = (i * threads + place) % across;
      to[y * (across + padding) + x] = from[y * stride + x];
    }
  } else {
    for (uint i = place; i < down * across; i += threads) {
      const uint y = i / across, x = i % across;
      to[y * (across + padding) + x] = x < there_across && y < there_down ? from[y * stride + x] : T(0);
    }
  }
}

template <typename T, typename R, uint groups>
kernel void gemm(device const T* left [[buffer(0)]], device const T* right [[buffer(1)]],
                 device R* result [[buffer(2)]], constant Product& product [[buffer(3)]],
                 uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],
                 uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  constexpr uint tile = groups * own, threads = groups * groups * 32;
  threadgroup T tile_of_left[tile * (depth + padding)], tile_of_right[depth * (tile + padding)];
  threadgroup float block[groups * groups * 8 * own];
  const uint first_row = group.y * tile, first_column = group.x * tile;
  const uint own_row = simdgroup / groups * own, own_column = simdgroup % groups * own;
  left += group.z * product.left.matrix + first_row * (transpose_left ? 1 : product.left.row);
  right += group.z * product.right.matrix + first_column * (transpose_right ? product.right.row : 1);
  result += group.z * product.result.matrix;

  simdgroup_float8x8 sums[parts][parts];
  for (uint y = 0; y < parts; ++y)
    for (uint x = 0; x < parts; ++x) sums[y][x] = simdgroup_float8x8(0);
  for (uint start = 0; start < product.interior; start += depth) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    stage<T, tile, depth, threads>(left + start * (transpose_left ? product.left.row : 1), product.left.row,
                                   transpose_left, product.rows - first_row, product.interior - start, tile_of_left,
                                   place);
    stage<T, depth, tile, threads>(right + start * (transpose_right ? 1 : product.right.row), product.right.row,
                                   transpose_right, product.interior - start, product.columns - first_column,
                                   tile_of_right, place);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    #pragma unroll
    for (uint inner = 0; inner < depth; inner += 8) {
      simdgroup_matrix<T, 8, 8> of_left[parts], of_right[parts];
      #pragma unroll
      for (uint i = 0; i < parts; ++i) {
        simdgroup_load(of_left[i], tile_of_left + (own_row + i * 8) * (depth + padding) + inner, depth + padding);
        simdgroup_load(of_right[i], tile_of_right + inner * (tile + padding) + own_column + i * 8, tile + padding);
      }
      #pragma unroll
      for (uint y = 0; y < parts; ++y)
        #pragma unroll
        for (uint x = 0; x < parts; ++x)
          simdgroup_multiply_accumulate(sums[y][x], of_left[y], of_right[x], sums[y][x]);
    }
  }

  threadgroup float* rows = block + simdgroup * 8 * own;
  #pragma unroll
  for (uint y = 0; y < parts; ++y) {
    #pragma unroll
    for (uint x = 0; x < parts; ++x) simdgroup_store(sums[y][x], rows + x * 8, own);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    const uint column = first_column + own_column + lane;
    for (uint i = 0; i < 8; ++i) {
      const uint row = first_row + own_row + y * 8 + i;
      if (row < product.rows && column < product.columns)
        put(result[row * product.result.row + column], rows[i * own + lane], product);
    }
    simdgroup_barrier(mem_flags::mem_threadgroup);
  }
}

#define GEMM(T, R, tile, groups)                                                                                     \
  template [[host_name("gemm_" #T "_" #R "_" #tile)]] kernel void gemm<T, R, groups>(                                 \
      device const T*, device const T*, device R*, constant Product&, uint3, uint, uint, uint);
#define BOTH(T, R) GEMM(T, R, 32, 1) GEMM(T, R, 64, 2)
BOTH(float, float)
BOTH(half, half)
BOTH(half, float)
BOTH(bfloat, bfloat)
BOTH(bfloat, float)
