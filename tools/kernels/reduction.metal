// The sum of an array in two launches: every threadgroup sums its share, then one sums the sums.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 256;

kernel void reduction(device const float* x, device float* out, constant uint& size,
                      uint group [[threadgroup_position_in_grid]], uint i [[thread_position_in_grid]],
                      uint all [[threads_per_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[threads / 32];
  float sum = 0;
  for (uint j = i; j < size; j += all) sum += x[j];
  sum = simd_sum(sum);
  if (lane == 0) partial[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup != 0) return;
  sum = simd_sum(lane < threads / 32 ? partial[lane] : 0.0f);
  if (lane == 0) out[group] = sum;
}
