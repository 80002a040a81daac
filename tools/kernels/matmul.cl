// C = A B, all row-major: one work-item per element of C, and the same with tiles in local memory.
__kernel void matmul_naive(__global const float* restrict a, __global const float* restrict b, __global float* restrict c,
                           uint m, uint n, uint k) {
  const uint row = get_global_id(1), column = get_global_id(0);
  if (row >= m || column >= n) return;
  float sum = 0;
  for (uint i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}

#define TILE 16

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void matmul_tiled(__global const float* restrict a,
                                                                                __global const float* restrict b,
                                                                                __global float* restrict c, uint m,
                                                                                uint n, uint k) {
  __local float a_tile[TILE][TILE];
  __local float b_tile[TILE][TILE];
  const uint row = get_global_id(1), column = get_global_id(0), y = get_local_id(1), x = get_local_id(0);
  float sum = 0;
  for (uint start = 0; start < k; start += TILE) {
    a_tile[y][x] = a[row * k + start + x];
    b_tile[y][x] = b[(start + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < TILE; ++i) sum += a_tile[y][i] * b_tile[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
