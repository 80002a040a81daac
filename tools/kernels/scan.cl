// The inclusive prefix sum of an array in three launches: blocks of 1024, the sums of the blocks, the sum of all blocks
// before added to each block.
#define THREADS 256
#define PER_THREAD 4

// The sum of `value` over the work-items before this one in the work-group.
uint exclusive_scan(uint value, __local uint* scratch) {
  const uint i = get_local_id(0);
  scratch[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint distance = 1; distance < THREADS; distance *= 2) {
    const uint before = i >= distance ? scratch[i - distance] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    scratch[i] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return scratch[i] - value;
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void scan_blocks(__global const uint* restrict x,
                                                                               __global uint* restrict out,
                                                                               __global uint* restrict sums) {
  __local uint scratch[THREADS];
  const uint i = get_local_id(0);
  const uint first = get_global_id(0) * PER_THREAD;
  uint values[PER_THREAD];
  uint sum = 0;
  for (uint j = 0; j < PER_THREAD; ++j) values[j] = sum += x[first + j];
  const uint before = exclusive_scan(sum, scratch);
  for (uint j = 0; j < PER_THREAD; ++j) out[first + j] = before + values[j];
  if (i == THREADS - 1) sums[get_group_id(0)] = before + sum;
}

// In place, by one work-group.
__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void scan_sums(__global uint* sums, uint blocks) {
  __local uint scratch[THREADS];
  const uint i = get_local_id(0);
  uint carried = 0;
  for (uint start = 0; start < blocks; start += THREADS) {
    const uint value = start + i < blocks ? sums[start + i] : 0;
    const uint inclusive = carried + exclusive_scan(value, scratch) + value;
    if (start + i < blocks) sums[start + i] = inclusive;
    barrier(CLK_LOCAL_MEM_FENCE);
    carried += scratch[THREADS - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel void scan_finish(__global uint* restrict out, __global const uint* restrict sums) {
  const uint i = get_global_id(0);
  const uint block = i / (THREADS * PER_THREAD);
  if (block > 0) out[i] += sums[block - 1];
}
