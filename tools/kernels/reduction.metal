// The sum of an array in two launches: every threadgroup sums its share, then one sums the sums.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 256;

kernel void reduction(device const float* x, device float* out, constant uint& size,
                      uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                      uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[threads / 32];
  float sum = 0;
  const uint share = (size / groups + threads - 1) / threads * threads;
  const uint end = group + 1 == groups ? size : min(size, (group + 1) * share);
  for (uint j = group * share + i; j < end; j += threads) sum += x[j];
  sum = simd_sum(sum);
  if (lane == 0) partial[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup != 0) return;
  sum = simd_sum(lane < threads / 32 ? partial[lane] : 0.0f);
  if (lane == 0) out[group] = sum;
}
