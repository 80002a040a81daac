// result = scale * op(x) * op(weights) [+ result], of any types, for few rows and for what MPS has no types for.
//
// Weights [out][in] are multiplied as sums of products along rows: a SIMD-group has 4 rows of x and 4 of weights, reads
// both side by side, and adds up the sums of its threads at the end. Weights [in][out] are multiplied row by row: a
// SIMD-group has 8 rows of x and 32 columns.
#include "numbers.h"

constant uint transpose_left [[function_constant(0)]];
constant uint transpose_right [[function_constant(1)]];
constant uint adds [[function_constant(2)]];

struct Product {
  uint rows, columns, interior;
  float scale;
};

template <typename T>
void put(device T* result, constant Product& product, uint row, uint column, float sum) {
  device T& place = result[ulong(row) * product.columns + column];
  sum *= product.scale;
  if (adds) sum += float(place);
  place = T(sum);
}

template <typename T>
float left_at(device const T* x, constant Product& product, uint row, uint i) {
  return float(x[transpose_left ? ulong(i) * product.rows + row : ulong(row) * product.interior + i]);
}

template <typename T, typename W>
void multiply_rows(device const T* x, device const W* weights, device T* result, constant Product& product, uint2 tile,
                   uint lane) {
  constexpr uint down = 4, across = 4;
  const uint row = tile.y * down, column = tile.x * across;
  WeightRow<W> right_rows[across];
  #pragma unroll
  for (uint c = 0; c < across; ++c)
    right_rows[c] = WeightRow<W>(weights, product.interior, min(column + c, product.columns - 1), lane);
  const auto left_row = [&](uint r) { return min(row + r, product.rows - 1); };
  float sums[down][across] = {};
  const auto multiply = [&](uint step) {
    float right[across];
    #pragma unroll
    for (uint c = 0; c < across; ++c) right[c] = right_rows[c].at(step);
    #pragma unroll
    for (uint r = 0; r < down; ++r) {
      const float left = transpose_left ? left_at(x, product, left_row(r), step * 32 + lane)
                                        : WeightRow<T>(x, product.interior, left_row(r), lane).at(step);
      #pragma unroll
      for (uint c = 0; c < across; ++c) sums[r][c] += left * right[c];
    }
  };
  for (uint step = 0; step < product.interior / 32; ++step) multiply(step);
  if (lane < product.interior % 32) multiply(product.interior / 32);
  #pragma unroll
  for (uint r = 0; r < down; ++r)
    #pragma unroll
    for (uint c = 0; c < across; ++c) {
      const float sum = simd_sum(sums[r][c]);
      if (lane == 0 && row + r < product.rows && column + c < product.columns)
        put(result, product, row + r, column + c, sum);
    }
}

template <typename T, typename W>
void multiply_columns(device const T* x, device const W* weights, device T* result, constant Product& product,
                      uint2 tile, uint lane) {
  constexpr uint down = 8;
  const uint row = tile.y * down, column = tile.x * 32 + lane;
  if (column >= product.columns) return;
  float sums[down] = {};
  for (uint i = 0; i < product.interior; ++i) {
    const float right = float(weights[ulong(i) * product.columns + column]);
    #pragma unroll
    for (uint r = 0; r < down; ++r) sums[r] += left_at(x, product, min(row + r, product.rows - 1), i) * right;
  }
  #pragma unroll
  for (uint r = 0; r < down; ++r)
    if (row + r < product.rows) put(result, product, row + r, column, sums[r]);
}
template <typename T>
void multiply_columns(device const T*, device const q8_0*, device T*, constant Product&, uint2, uint) {}

template <typename T, typename W>
kernel void matmul_kernel(device const T* x [[buffer(0)]], device const W* weights [[buffer(1)]],
                          device T* result [[buffer(2)]], constant Product& product [[buffer(3)]],
                          uint2 tile [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  if (transpose_right)
    multiply_rows(x, weights, result, product, tile, lane);
  else
    multiply_columns(x, weights, result, product, tile, lane);
}

#define MATMUL(W, T, name)                                                      \
  template [[host_name("matmul_kernel_" #name)]] kernel void matmul_kernel<T, W>( \
      device const T*, device const W*, device T*, constant Product&, uint2, uint);
METAL_EACH_PRODUCT(MATMUL)
