// Reverses each threadgroup's elements through threadgroup memory, with a bug: between writing `shared` and reading what
// another thread wrote there must be a barrier. On a GPU this gives right results most of the time;
// `metalloid check` names both lines. With -DMENDED the barrier is there.
#include <metal_stdlib>
using namespace metal;

kernel void reverse(device const float* values [[buffer(0)]],
                    device float* reversed [[buffer(1)]],
                    uint i [[thread_position_in_grid]],
                    uint local [[thread_position_in_threadgroup]],
                    uint count [[threads_per_threadgroup]]) {
  threadgroup float shared[256];
  shared[local] = values[i];
#ifdef MENDED
  threadgroup_barrier(mem_flags::mem_threadgroup);
#endif
  reversed[i] = shared[count - 1 - local];
}
