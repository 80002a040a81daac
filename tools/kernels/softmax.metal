// Softmax of each row, one threadgroup of 256 threads per row: with tree reductions in threadgroup memory, and with
// SIMD-group functions.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 256;

template <typename Combine>
static float tree(float value, uint i, threadgroup float* scratch, Combine combine) {
  scratch[i] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint stride = threads / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] = combine(scratch[i], scratch[i + stride]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float result = scratch[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return result;
}

kernel void softmax_tree(device const float* x, device float* out, constant uint& size,
                         uint row [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]]) {
  threadgroup float scratch[threads];
  device const float* in_row = x + row * size;
  device float* out_row = out + row * size;
  float largest = -INFINITY;
  for (uint j = i; j < size; j += threads) largest = max(largest, in_row[j]);
  largest = tree(largest, i, scratch, [](float a, float b) { return max(a, b); });
  float sum = 0;
  for (uint j = i; j < size; j += threads) {
    const float value = exp(in_row[j] - largest);
    out_row[j] = value;
    sum += value;
  }
  const float scale = 1.0f / tree(sum, i, scratch, [](float a, float b) { return a + b; });
  for (uint j = i; j < size; j += threads) out_row[j] *= scale;
}

kernel void softmax_simd(device const float* x, device float* out, constant uint& size,
                         uint row [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float maxima[threads / 32], sums[threads / 32];
  device const float* in_row = x + row * size;
  device float* out_row = out + row * size;
  float largest = -INFINITY;
  for (uint j = i; j < size; j += threads) largest = max(largest, in_row[j]);
  largest = simd_max(largest);
  if (lane == 0) maxima[simdgroup] = largest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  largest = simd_max(maxima[lane % (threads / 32)]);
  float sum = 0;
  for (uint j = i; j < size; j += threads) {
    const float value = exp(in_row[j] - largest);
    out_row[j] = value;
    sum += value;
  }
  sum = simd_sum(sum);
  if (lane == 0) sums[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float scale = 1.0f / simd_sum(lane < threads / 32 ? sums[lane] : 0.0f);
  for (uint j = i; j < size; j += threads) out_row[j] *= scale;
}
