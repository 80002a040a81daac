#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

// C = A * B, all n x n, row after row. Three ways to the same result.

// One thread computes one element and reads a whole row of A and a whole column of B from device memory.
kernel void matmul_naive(device const float* a [[buffer(0)]],
                         device const float* b [[buffer(1)]],
                         device float* c       [[buffer(2)]],
                         constant uint& n      [[buffer(3)]],
                         uint2 position        [[thread_position_in_grid]]) {
  if (position.x >= n || position.y >= n) return;
  float sum = 0;
  for (uint k = 0; k < n; ++k) sum += a[position.y * n + k] * b[k * n + position.x];
  c[position.y * n + position.x] = sum;
}

// A threadgroup of 16 x 16 threads brings a tile of A and one of B into threadgroup memory together; each value then is
// read from device memory once for 16 uses.
constant constexpr uint tile = 16;

kernel void matmul_tiled(device const float* a [[buffer(0)]],
                         device const float* b [[buffer(1)]],
                         device float* c       [[buffer(2)]],
                         constant uint& n      [[buffer(3)]],
                         uint2 position        [[thread_position_in_grid]],
                         uint2 local           [[thread_position_in_threadgroup]]) {
  threadgroup float tile_a[tile][tile];
  threadgroup float tile_b[tile][tile];
  float sum = 0;
  for (uint start = 0; start < n; start += tile) {
    uint column = start + local.x, row = start + local.y;
    tile_a[local.y][local.x] = position.y < n && column < n ? a[position.y * n + column] : 0;
    tile_b[local.y][local.x] = row < n && position.x < n ? b[row * n + position.x] : 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = 0; k < tile; ++k) sum += tile_a[local.y][k] * tile_b[k][local.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (position.x < n && position.y < n) c[position.y * n + position.x] = sum;
}

// A SIMD-group of 32 threads computes a block of 16 x 16 as four 8 x 8 matrices that its threads hold together. n must
// be a multiple of 16.
kernel void matmul_simdgroup(device const float* a [[buffer(0)]],
                             device const float* b [[buffer(1)]],
                             device float* c       [[buffer(2)]],
                             constant uint& n      [[buffer(3)]],
                             uint2 group           [[threadgroup_position_in_grid]]) {
  a += group.y * 16 * n;
  b += group.x * 16;
  c += group.y * 16 * n + group.x * 16;

  simdgroup_float8x8 sum[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) sum[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0);

  for (uint k = 0; k < n; k += 8) {
    simdgroup_float8x8 left[2], right[2];
    for (int i = 0; i < 2; ++i) simdgroup_load(left[i], a + i * 8 * n + k, n);
    for (int j = 0; j < 2; ++j) simdgroup_load(right[j], b + k * n + j * 8, n);
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) simdgroup_multiply_accumulate(sum[i][j], left[i], right[j], sum[i][j]);
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) simdgroup_store(sum[i][j], c + i * 8 * n + j * 8, n);
}
