// For CPUs, where a SIMD-group is a vector: each has four rows, which share what is read of x, and walks through them
// 32 numbers at a time.
#include "matmul_vec.h"

constant constexpr uint streams = 4;

template <typename T, typename W>
kernel void matmul_vec_kernel(device const T* x [[buffer(0)]], device const void* norm [[buffer(1)]],
                              device const W* weights_0 [[buffer(2)]], device const W* weights_1 [[buffer(3)]],
                              device const W* weights_2 [[buffer(4)]], device T* result_0 [[buffer(5)]],
                              device T* result_1 [[buffer(6)]], device T* result_2 [[buffer(7)]],
                              constant VectorProducts& products [[buffer(8)]],
                              uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                              uint simdgroup [[simdgroup_index_in_threadgroup]],
                              uint simdgroups [[simdgroups_per_threadgroup]]) {
  const Share<T, W> share(weights_0, weights_1, weights_2, result_0, result_1, result_2, products, group);
  const uint own = gated ? streams / 2 : streams;
  const uint first = (share.group * simdgroups + simdgroup) * own;
  if (first >= share.rows) return;
  const uint columns = products.columns, last = share.rows - 1;
  float sums[streams] = {}, squares = 0;
  const auto multiply = [&](uint step) {
    float value = float(x[step * 32 + lane]);
    if (norm_weights != 0) {
      squares += value * value;
      value *= norm_weight<T>(norm, step * 32 + lane);
    }
    #pragma unroll
    for (uint i = 0; i < streams; ++i)
      sums[i] += value * weight_at(i < own ? share.weights : share.other, columns, min(first + i % own, last), step, lane);
  };
  for (uint step = 0; step < columns / 32; ++step) multiply(step);
  if (lane < columns % 32) multiply(columns / 32);

  const float factor = norm_weights != 0 ? rsqrt(simd_sum(squares) / columns + products.epsilon) : 1;
  #pragma unroll
  for (uint i = 0; i < streams; ++i) sums[i] = simd_sum(sums[i]) * factor;
  if (lane != 0) return;
  #pragma unroll
  for (uint i = 0; i < streams; ++i) {
    if (i >= own || first + i > last) continue;
    share.put(first + i, gated ? silu_of(sums[i]) * sums[(i + streams / 2) % streams] : sums[i]);
  }
}

#define MATMUL_VEC(W, T, name) MATMUL_VEC_AS(matmul_vec_kernel, W, T, name)
METAL_EACH_PRODUCT(MATMUL_VEC)
