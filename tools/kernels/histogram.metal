// How often each byte occurs: every threadgroup counts its share in threadgroup memory and adds that to the result.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint bins = 256;

kernel void histogram(device const uchar* bytes, device atomic_uint* counts, constant uint& size,
                      uint group [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]],
                      uint local [[thread_position_in_threadgroup]]) {
  threadgroup atomic_uint mine[bins];
  atomic_store_explicit(&mine[local], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint share = (size + groups - 1) / groups, end = min(size, (group + 1) * share);
  for (uint j = group * share + local; j < end; j += bins)
    atomic_fetch_add_explicit(&mine[bytes[j]], 1, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&counts[local], atomic_load_explicit(&mine[local], memory_order_relaxed),
                            memory_order_relaxed);
}
