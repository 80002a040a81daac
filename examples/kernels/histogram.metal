// Counts of byte values: each threadgroup counts in its own memory first, so that the atomics on device memory are few.
// The host sets the size of `local_counts` with setThreadgroupMemoryLength.
#include <metal_stdlib>
using namespace metal;

kernel void histogram(device const uchar* values [[buffer(0)]],
                      device atomic_uint* counts [[buffer(1)]],
                      constant uint& length [[buffer(2)]],
                      threadgroup atomic_uint* local_counts [[threadgroup(0)]],
                      uint position [[thread_position_in_grid]],
                      uint grid_size [[threads_per_grid]],
                      uint thread_index [[thread_index_in_threadgroup]],
                      uint threads [[threads_per_threadgroup]]) {
  constexpr uint bins = 256;
  for (uint bin = thread_index; bin < bins; bin += threads)
    atomic_store_explicit(&local_counts[bin], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint i = position; i < length; i += grid_size)
    atomic_fetch_add_explicit(&local_counts[values[i]], 1u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);

  for (uint bin = thread_index; bin < bins; bin += threads)
    atomic_fetch_add_explicit(&counts[bin], atomic_load_explicit(&local_counts[bin], memory_order_relaxed),
                              memory_order_relaxed);
}
