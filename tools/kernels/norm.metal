// RMSNorm and layer norm of each row, one threadgroup of 256 threads per row, with SIMD-group functions.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 256;

static float threadgroup_sum(float value, threadgroup float* partial, uint lane, uint simdgroup) {
  value = simd_sum(value);
  if (lane == 0) partial[simdgroup] = value;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  return simd_sum(lane < threads / 32 ? partial[lane] : 0.0f);
}

kernel void rms_norm(device const float* x, device const float* weight, device float* out, constant uint& size,
                     constant float& epsilon, uint row [[threadgroup_position_in_grid]],
                     uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial[threads / 32];
  device const float* in_row = x + row * size;
  float squares = 0;
  for (uint j = i; j < size; j += threads) squares += in_row[j] * in_row[j];
  const float scale = rsqrt(threadgroup_sum(squares, partial, lane, simdgroup) / size + epsilon);
  for (uint j = i; j < size; j += threads) out[row * size + j] = in_row[j] * scale * weight[j];
}

kernel void layer_norm(device const float* x, device const float* weight, device const float* bias, device float* out,
                       constant uint& size, constant float& epsilon, uint row [[threadgroup_position_in_grid]],
                       uint i [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup float partial_sums[threads / 32], partial_squares[threads / 32];
  device const float* in_row = x + row * size;
  float sum = 0;
  for (uint j = i; j < size; j += threads) sum += in_row[j];
  const float mean = threadgroup_sum(sum, partial_sums, lane, simdgroup) / size;
  float squares = 0;
  for (uint j = i; j < size; j += threads) {
    const float difference = in_row[j] - mean;
    squares += difference * difference;
  }
  const float scale = rsqrt(threadgroup_sum(squares, partial_squares, lane, simdgroup) / size + epsilon);
  for (uint j = i; j < size; j += threads) out[row * size + j] = (in_row[j] - mean) * scale * weight[j] + bias[j];
}
