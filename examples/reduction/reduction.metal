#include <metal_atomic>
#include <metal_stdlib>
using namespace metal;

// The sum of n floats, in ways that differ in how threads pass their parts to each other. Each threadgroup writes the
// sum of what it read; the last kernel adds to one result in device memory.

// Halves the number of adding threads at each step, in threadgroup memory. Threadgroups have a power of two threads.
kernel void sum_tree(device const float* values      [[buffer(0)]],
                     device float* sums              [[buffer(1)]],
                     constant uint& n                [[buffer(2)]],
                     threadgroup float* part         [[threadgroup(0)]],
                     uint i                          [[thread_position_in_grid]],
                     uint thread_index               [[thread_index_in_threadgroup]],
                     uint threads                    [[threads_per_threadgroup]],
                     uint group                      [[threadgroup_position_in_grid]]) {
  part[thread_index] = i < n ? values[i] : 0;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint step = threads / 2; step > 0; step /= 2) {
    if (thread_index < step) part[thread_index] += part[thread_index + step];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (thread_index == 0) sums[group] = part[0];
}

// Adds within SIMD-groups without any memory, then the SIMD-groups' sums in one of them.
kernel void sum_simd(device const float* values [[buffer(0)]],
                     device float* sums         [[buffer(1)]],
                     constant uint& n           [[buffer(2)]],
                     uint i                     [[thread_position_in_grid]],
                     uint lane                  [[thread_index_in_simdgroup]],
                     uint simdgroup             [[simdgroup_index_in_threadgroup]],
                     uint simdgroups            [[simdgroups_per_threadgroup]],
                     uint group                 [[threadgroup_position_in_grid]]) {
  threadgroup float part[32];
  float sum = simd_sum(i < n ? values[i] : 0);
  if (lane == 0) part[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (simdgroup == 0) {
    sum = simd_sum(lane < simdgroups ? part[lane] : 0);
    if (lane == 0) sums[group] = sum;
  }
}

// One atomic addition per SIMD-group. The order of additions, and so the last bits, may differ from run to run.
kernel void sum_atomic(device const float* values    [[buffer(0)]],
                       device atomic_float* sum      [[buffer(1)]],
                       constant uint& n              [[buffer(2)]],
                       uint i                        [[thread_position_in_grid]]) {
  float part = simd_sum(i < n ? values[i] : 0);
  if (simd_is_first()) atomic_fetch_add_explicit(sum, part, memory_order_relaxed);
}
