// Found as seed 777038: the index of a table is what is left of it without a mask, and came from another block, which
// did not keep it.
#include <metal_stdlib>
using namespace metal;

struct Pair { uint x; short y; };

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000,48
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 50x4x1 group 16x16x1
//@ grid 7x7x3 group 3x3x3
//@ seed 777038
kernel void f(device const uint* in, device const uchar* bytes, device const float* reals,
              constant uint* given, device uint* out, device ushort* small, device atomic_uint* counts,
              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 size [[threads_per_threadgroup]],
              uint lid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]]) {

  threadgroup uint shared[256];
  const uint tid = at.x + grid.x * (at.y + grid.y * at.z);
  const uint n = given[0], m = given[1];
  const uint threads = size.x * size.y * size.z;
  const uint place = group.x + 3 * group.y;
  uint x = (threads ^ at.y);
  uint y = tid / given[2];
  uint z = tid % given[2];
  int i = 1;
  long l = max(long(5u), long(2147483647u));
  float r = clamp(float(uchar(at.y)), -1000.0f, 1000.0f);
  half h = 1;
  ushort s = ushort(1);
  uchar c = 3;
  uint a[8] = {(place ^ threads), min(tid, lane), 0, 1, 2, 3, 4, 5};
  Pair p[4] = {{1, 2}, {ctz(256u), 4}, {5, 6}, {7, 8}};
  uint4 q = uint4((threads & place), (n | place), 7, 9);
  i = 1;
  { uint k10 = 0; while (true) { if (++k10 > 7u || (r > r)) break; 
    for (uint k12 = in[n & 255u] & 3u; k12 > 0u; --k12) {
      c = c;
      atomic_fetch_max_explicit(&counts[64u + (p[uint(z / uint((at.x & 127) | 1)) & 3u].x & 15u)], (lane ^ uint(p[at.x & 3u].y)), memory_order_relaxed);
    }
  } }
  out[tid * 8u] ^= x;
  out[tid * 8u + 1u] ^= y + z;
  out[tid * 8u + 2u] ^= a[1] + a[6] + q.z;
  out[tid * 8u + 3u] ^= p[1].x + uint(p[2].y);
  out[tid * 8u + 4u] ^= uint(i) + uint(l) + uint(l >> 32);
  out[tid * 8u + 5u] ^= uint(int(r)) + uint(int(h)) + s + c;
}
