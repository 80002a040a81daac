// Grid values that are variables outside of functions.
#include <metal_stdlib>
using namespace metal;

uint3 position [[thread_position_in_grid]];
[[thread_index_in_simdgroup]] uint lane;
namespace grid {
ushort3 size [[threads_per_grid]];
}
thread uint index_in_group [[thread_index_in_threadgroup]];

static uint index() { return position.x + grid::size.x * (position.y + grid::size.y * position.z); }
static uint sum(thread const uint3& of) { return of.x + of.y + of.z; }

//@ buffer uint random N
//@ buffer uint zeros N
kernel void through_functions(device const uint* in, device uint* out) {
  uint result = in[index()] + sum(position);
  if (lane & 1) result ^= index_in_group;
  out[index()] = result;
}

//@ buffer uint zeros N
kernel void beside_parameters(device uint* out, uint3 threads [[threads_per_threadgroup]], uint lane [[thread_index_in_threadgroup]]) {
  out[index()] = threads.x + 3 * lane + ::lane;
}
