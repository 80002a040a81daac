// Softmax of each row, one threadgroup per row. Every thread keeps a running maximum and a running sum over its part of
// the row; SIMD-groups combine theirs with shuffles, and the threadgroup combines its SIMD-groups in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

struct Shape {
  uint rows;
  uint columns;
};

// The sum is relative to the maximum, so that no exponential overflows.
struct Partial {
  float maximum;
  float sum;
};

static Partial combine(Partial a, Partial b) {
  float maximum = max(a.maximum, b.maximum);
  return {maximum, a.sum * exp(a.maximum - maximum) + b.sum * exp(b.maximum - maximum)};
}

static Partial combine_simdgroup(Partial partial, uint width) {
  for (ushort distance = width / 2; distance > 0; distance /= 2)
    partial = combine(partial, {simd_shuffle_xor(partial.maximum, distance), simd_shuffle_xor(partial.sum, distance)});
  return partial;
}

constant constexpr float lowest = -3.0e38f;

[[max_total_threads_per_threadgroup(1024)]]
kernel void softmax_rows(device const float* input [[buffer(0)]],
                         device float* output [[buffer(1)]],
                         constant Shape& shape [[buffer(2)]],
                         uint row [[threadgroup_position_in_grid]],
                         uint thread_index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]],
                         uint width [[threads_per_simdgroup]]) {
  threadgroup Partial partials[32];
  device const float* x = input + row * shape.columns;
  device float* y = output + row * shape.columns;

  Partial partial = {lowest, 0.0f};
  for (uint i = thread_index; i < shape.columns; i += threads) partial = combine(partial, {x[i], 1.0f});

  partial = combine_simdgroup(partial, width);
  if (lane == 0) partials[simdgroup] = partial;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  Partial mine = {lowest, 0.0f};
  if (lane < simdgroups) mine = partials[lane];
  Partial row_total = combine_simdgroup(mine, width);

  for (uint i = thread_index; i < shape.columns; i += threads) y[i] = exp(x[i] - row_total.maximum) / row_total.sum;
}
