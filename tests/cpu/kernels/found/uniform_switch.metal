// Seed 36. vector engine, width 32, grid 17x6x2 group 17x3x2: argument 4 differs in 25 of 1632 elements; first, [1177] is 0xc533c6 and not 0xc533e8
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 9x5x3 group 8x4x2
//@ seed 36
kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {

  const uint tid = at.x + grid.x * (at.y + grid.y * at.z);
  const uint n = given[0], m = given[1];
  int i = 1;
  long l = 1l;
  uchar c = 3;
  switch (uint(bytes[n & 255u]) & 3u) {
  case 0: {
  } break;
  case 1: {
  }
  case 3: {
    i = int(c);
  } break;
  default: {
  }
  }
  out[tid * 8u + 4u] ^= uint(i) + uint(l) + uint(l >> 32);
}
