// Bitonic sort of a power of two of keys. Runs of 1024 are sorted in threadgroup memory; longer ones are merged by one
// launch per distance down to 512, the rest of each merge again in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint threads = 512, block = 1024;

// Puts the pair that thread `i` looks after in order: two keys, `distance` apart.
template <typename Pointer>
static void compare_exchange(Pointer keys, uint i, uint distance, bool ascending) {
  const uint low = 2 * i - (i & (distance - 1));
  const uint a = keys[low], b = keys[low + distance];
  if ((a > b) == ascending) {
    keys[low] = b;
    keys[low + distance] = a;
  }
}

kernel void sort_blocks(device uint* keys, uint group [[threadgroup_position_in_grid]],
                        uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint shared[block];
  device uint* mine = keys + group * block;
  shared[i] = mine[i];
  shared[i + threads] = mine[i + threads];
  for (uint run = 2; run <= block; run *= 2) {
    const bool ascending = ((group * threads + i) & (run / 2)) == 0;
    for (uint distance = run / 2; distance > 0; distance /= 2) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      compare_exchange(shared, i, distance, ascending);
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  mine[i] = shared[i];
  mine[i + threads] = shared[i + threads];
}

kernel void sort_step(device uint* keys, constant uint& run, constant uint& distance,
                      uint i [[thread_position_in_grid]]) {
  compare_exchange(keys, i, distance, (i & (run / 2)) == 0);
}

kernel void sort_finish(device uint* keys, constant uint& run, uint group [[threadgroup_position_in_grid]],
                        uint i [[thread_position_in_threadgroup]]) {
  threadgroup uint shared[block];
  device uint* mine = keys + group * block;
  shared[i] = mine[i];
  shared[i + threads] = mine[i + threads];
  const bool ascending = ((group * threads + i) & (run / 2)) == 0;
  for (uint distance = block / 2; distance > 0; distance /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    compare_exchange(shared, i, distance, ascending);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  mine[i] = shared[i];
  mine[i + threads] = shared[i + threads];
}
