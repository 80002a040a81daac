// Seed 59. vector engine, width 32, grid 20x11x1 group 16x8x1: argument 4 differs in 12 of 1760 elements; first, [1413] is 0x21b and not 0x219
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 20x11x1 group 16x8x1
//@ seed 59
kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {

  const uint tid = at.x + grid.x * (at.y + grid.y * at.z);
  const uint place = group.x + 3 * group.y;
  float r = clamp(1.0f, -1000.0f, 1000.0f);
  half h = 1;
  ushort s = ushort(1);
  uchar c = 3;
  if ((!bool(place & 1u))) {
    h = clamp((-1.0h), -16.0h, 16.0h);
    atomic_fetch_add_explicit(&counts[1u & 15u], 1u, memory_order_relaxed);
  }
  out[tid * 8u + 5u] ^= uint(int(r)) + uint(int(h)) + s + c;
}
