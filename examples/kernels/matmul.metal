// C = A * B by tiles in threadgroup memory, for several element types from one template. Whether B is stored transposed,
// and whether there is a bias to add, are function constants: each pipeline is compiled for its own answer.
#include <metal_stdlib>
using namespace metal;

constant bool transposed_b [[function_constant(0)]];
constant bool has_bias [[function_constant(1)]];

struct MatmulShape {
  uint m, n, k;
};

template <typename T, uint tile>
[[kernel]] void matmul(device const T* a [[buffer(0)]],
                       device const T* b [[buffer(1)]],
                       device T* c [[buffer(2)]],
                       constant MatmulShape& shape [[buffer(3)]],
                       device const T* bias [[buffer(4), function_constant(has_bias)]],
                       uint2 position [[thread_position_in_grid]],
                       uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup T a_tile[tile][tile];
  threadgroup T b_tile[tile][tile];
  const uint row = position.y, column = position.x;

  float sum = 0.0f;
  for (uint start = 0; start < shape.k; start += tile) {
    const uint a_column = start + local.x, b_row = start + local.y;
    const bool in_a = row < shape.m && a_column < shape.k;
    const bool in_b = column < shape.n && b_row < shape.k;
    a_tile[local.y][local.x] = in_a ? a[row * shape.k + a_column] : T(0);
    b_tile[local.y][local.x] = in_b ? b[transposed_b ? column * shape.k + b_row : b_row * shape.n + column] : T(0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint i = 0; i < tile; ++i) sum += float(a_tile[local.y][i]) * float(b_tile[i][local.x]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  if (row >= shape.m || column >= shape.n) return;
  if (has_bias) sum += float(bias[column]);
  c[row * shape.n + column] = T(sum);
}

#define instantiate_matmul(type, tile) \
  template [[host_name("matmul_" #type)]] [[kernel]] decltype(matmul<type, tile>) matmul<type, tile>;

instantiate_matmul(float, 16)
instantiate_matmul(half, 16)
instantiate_matmul(bfloat, 16)
