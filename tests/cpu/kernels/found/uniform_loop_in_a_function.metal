// Seed 58. vector engine, width 32, grid 50x4x1 group 16x16x1: argument 4 differs in 16 of 1600 elements; first, [384] is 0xada2d5c9 and not 0xada2d623
#include <metal_stdlib>
using namespace metal;

static uint helper0(uint x, uint y) {
  uint z = y;

  { uint k0 = 0; do {
    if ((y <= 1u)) {
    } else {
      if (((uint(y % uint((z & 127) | 1)) & 3u) == 1u)) continue;
      z = 1u;
    }
  } while (++k0 < 3u && true); }
  return z;
}

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 7x7x3 group 3x3x3
//@ seed 58
kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {

  threadgroup uint shared[256];
  const uint tid = at.x + grid.x * (at.y + grid.y * at.z);
  const uint threads = size.x * size.y * size.z;
  const uint place = group.x + 3 * group.y;
  uint y = tid;
  uint z = 0;
  shared[lid] = helper0(1u, place); threadgroup_barrier(mem_flags::mem_threadgroup); z ^= shared[1u % threads]; threadgroup_barrier(mem_flags::mem_threadgroup);
  out[tid * 8u + 1u] ^= y + z;
}
