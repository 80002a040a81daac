// Seed 23. vector engine, width 32, grid 100x1x1 group 64x1x1: argument 4 differs in 63 of 800 elements; first, [512] is 0xa0142 and not 0x14013e
#include <metal_stdlib>
using namespace metal;

struct Pair { uint x; short y; };

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 70x3x1 group 32x2x1
//@ seed 23
kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {

  const uint tid = at.x + grid.x * (at.y + grid.y * at.z);
  const uint n = given[0], m = given[1];
  const uint place = group.x + 3 * group.y;
  float r = clamp(1.0f, -1000.0f, 1000.0f);
  half h = 1;
  ushort s = ushort(1);
  uchar c = 3;
  Pair p[4] = {{1, 2}, {1u, 4}, {5, 6}, {7, 8}};
  if (((place & 3u) == 1u)) {
    p[m & 3u] = p[1u & 3u];
    c = uchar(1);
  }
  out[tid * 8u + 3u] ^= p[1].x + uint(p[2].y);
  out[tid * 8u + 5u] ^= uint(int(r)) + uint(int(h)) + s + c;
}
