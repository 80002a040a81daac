// C = A B, all row-major: one thread per element of C; the same with tiles in threadgroup memory; SIMD-group matrices.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

kernel void matmul_naive(device const float* a, device const float* b, device float* c, constant uint& m,
                         constant uint& n, constant uint& k, uint2 position [[thread_position_in_grid]]) {
  if (position.y >= m || position.x >= n) return;
  float sum = 0;
  for (uint i = 0; i < k; ++i) sum += a[position.y * k + i] * b[i * n + position.x];
  c[position.y * n + position.x] = sum;
}

constant constexpr uint tile = 16;

kernel void matmul_tiled(device const float* a, device const float* b, device float* c, constant uint& m,
                         constant uint& n, constant uint& k, uint2 position [[thread_position_in_grid]],
                         uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float a_tile[tile][tile];
  threadgroup float b_tile[tile][tile];
  float sum = 0;
  for (uint start = 0; start < k; start += tile) {
    a_tile[local.y][local.x] = a[position.y * k + start + local.x];
    b_tile[local.y][local.x] = b[(start + local.y) * n + position.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < tile; ++i) sum += a_tile[local.y][i] * b_tile[i][local.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  c[position.y * n + position.x] = sum;
}

// A SIMD-group computes a block of 32 by 32, a threadgroup of four 64 by 64.
kernel void matmul_simdgroup(device const float* a, device const float* b, device float* c, constant uint& m,
                             constant uint& n, constant uint& k, uint2 group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint row = group.y * 64 + simdgroup / 2 * 32;
  const uint column = group.x * 64 + simdgroup % 2 * 32;
  if (row >= m || column >= n) return;
  simdgroup_float8x8 sums[4][4];
  for (uint i = 0; i < 4; ++i)
    for (uint j = 0; j < 4; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
  device const float* a_block = a + row * k;
  device const float* b_block = b + column;
  for (uint start = 0; start < k; start += 8) {
    simdgroup_float8x8 a_tiles[4], b_tiles[4];
    for (uint i = 0; i < 4; ++i) simdgroup_load(a_tiles[i], a_block + i * 8 * k + start, k);
    for (uint j = 0; j < 4; ++j) simdgroup_load(b_tiles[j], b_block + start * n + j * 8, n);
    for (uint i = 0; i < 4; ++i)
      for (uint j = 0; j < 4; ++j) simdgroup_multiply_accumulate(sums[i][j], a_tiles[i], b_tiles[j], sums[i][j]);
  }
  for (uint i = 0; i < 4; ++i)
    for (uint j = 0; j < 4; ++j) simdgroup_store(sums[i][j], c + (row + i * 8) * n + column + j * 8, n);
}
