// The inclusive prefix sum of an array in three launches: blocks of 1024, the sums of the blocks, the sum of all blocks
// before added to each block.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 256, per_thread = 4;

// The sum of `value` over the threads before this one in the threadgroup.
static uint exclusive_scan(uint value, threadgroup uint* partial, uint lane, uint simdgroup) {
  const uint inclusive = simd_prefix_inclusive_sum(value);
  if (lane == 31) partial[simdgroup] = inclusive;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint before = simd_prefix_exclusive_sum(lane < threads / 32 ? partial[lane] : 0);
  return simd_shuffle(before, simdgroup) + inclusive - value;
}

kernel void scan_blocks(device const uint* x, device uint* out, device uint* sums,
                        uint group [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]],
                        uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint partial[threads / 32];
  const uint first = (group * threads + i) * per_thread;
  uint values[per_thread];
  uint sum = 0;
  for (uint j = 0; j < per_thread; ++j) values[j] = sum += x[first + j];
  const uint before = exclusive_scan(sum, partial, lane, simdgroup);
  for (uint j = 0; j < per_thread; ++j) out[first + j] = before + values[j];
  if (i == threads - 1) sums[group] = before + sum;
}

// In place, by one threadgroup.
kernel void scan_sums(device uint* sums, constant uint& blocks, uint i [[thread_position_in_threadgroup]],
                      uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  threadgroup uint partial[threads / 32];
  threadgroup uint total;
  uint carried = 0;
  for (uint start = 0; start < blocks; start += threads) {
    const uint value = start + i < blocks ? sums[start + i] : 0;
    const uint inclusive = carried + exclusive_scan(value, partial, lane, simdgroup) + value;
    if (start + i < blocks) sums[start + i] = inclusive;
    if (i == threads - 1) total = inclusive;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    carried = total;
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

kernel void scan_finish(device uint* out, device const uint* sums, uint i [[thread_position_in_grid]]) {
  const uint block = i / (threads * per_thread);
  if (block > 0) out[i] += sums[block - 1];
}
