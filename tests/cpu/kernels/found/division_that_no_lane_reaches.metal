// Seed 7580. vector engine, width 32, grid 9x5x3 group 8x4x2: fails: kernel 'f' executed an illegal instruction in threadgroup (0, 0, 0)
#include <metal_stdlib>
using namespace metal;

struct Pair { uint x; short y; };

static uint helper0(uint x, uint y) {
  uint z = y;

  z ^= z;
  x = 32768u;
  switch (quad_sum(uint(256u >> (uint(z) & 31u))) & 3u) {
  case 0: {
  } break;
  case 1: {
    if (bool(y & 1u)) break;
  }
  case 3: {
    z ^= uint(long(ulong(long(x)) - ulong(long(ulong(x) << 32 | ulong(y)))));
    x ^= uint((bool(y & 1u) ? z : z) / uint(((x ^ z) & 127) | 1));
  } break;
  default: {
    x = 1u;
    if (simd_all(bool(z & 1u))) return x;
  }
  }
  return uint(((uchar(x) >= uchar(y)) ? uint(bool(x & 1u)) : (z + y)) / uint((clz(uint(long(100u))) & 127) | 1));
}

static uint helper1(uint x, uint y) {
  uint z = y;

  return uint((y > y));
}

//@ buffer uint random 256
//@ buffer uchar random 256
//@ buffer float below:100 256
//@ bytes uint 5,1000
//@ buffer uint zeros 8N
//@ buffer ushort zeros 4N
//@ buffer uint random 96
//@ grid 9x5x3 group 8x4x2
//@ grid 33x1x1 group 33x1x1
//@ seed 7580
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
  uint x = (bool(m & 1u) ? m : 268435457u);
  uint y = tid;
  uint z = 0;
  int i = max(int(32u), int(n));
  long l = select(long(lid), long(place), bool(lane & 1u));
  float r = clamp((-float(tid & 255u)), -1000.0f, 1000.0f);
  half h = 1;
  ushort s = ushort(2147483647u);
  uchar c = 3;
  uint a[8] = {(threads - n), uint(ushort(3u)), 0, 1, 2, 3, 4, 5};
  Pair p[4] = {{1, 2}, {uint(lane % uint((n & 127) | 1)), 4}, {5, 6}, {7, 8}};
  uint4 q = uint4(n, (at.x * threads), 7, 9);
  atomic_fetch_max_explicit(&counts[64u + (uint(uchar(ulong(lid))) & 15u)], uint(c), memory_order_relaxed);
  { uint k5 = 0; do {
    atomic_fetch_or_explicit(&counts[16u + (in[ushort(at.x) >> 8] & 15u)], in[ushort((at.x ^ lid)) >> 8], memory_order_relaxed);
    switch (q[clamp((x - lid), uint(3), uint(90)) & 3u]) {
    case 1u: {
    }
    case 2u: case 9u: {
      for (uint k9 = 0; k9 < ((helper0(x, k5) ^ in[min(tid, 255u)]) & 3u); ++k9) {
        s = ushort(bool(4294967280u & 1u));
      }
    } break;
    case 0xFFFFFFFFu: {
    } break;
    }
  } while (++k5 < 7u && (127u != place)); }
  { uint k10 = 0; do {
    if ((short(3u) >= short(100u))) break;
    { uint k11 = 0; do {
      p[tid & 3u] = p[a[x & 7u] & 3u];
      { uint k12 = 0; while (true) { if (++k12 > 3u || (s == ushort(4294967295u))) break; 
        z += x;
      } }
    } while (++k11 < 3u && (short(uint(short(y)) * uint(short(3u))) == short(lane))); }
    if ((bool(at.y & 1u) && bool(7u & 1u))) continue;
  } while (++k10 < 7u && (fma(h, 0.0h, h) >= h)); }
  y += uint(in[uint(bytes[x & 255u]) & 255u] % uint((in[simd_shuffle_down(n, 3) & 255u] & 127) | 1));
  a[clz(x) & 7u] = popcount((at.x * n));
  if ((i >= i)) { out[tid * 8u + 3u] = uint(ulong(simd_vote::vote_t(simd_ballot(bool(lane & 1u))))); return; }
  out[tid * 8u] ^= x;
  out[tid * 8u + 1u] ^= y + z;
  out[tid * 8u + 2u] ^= a[1] + a[6] + q.z;
  out[tid * 8u + 3u] ^= p[1].x + uint(p[2].y);
  out[tid * 8u + 4u] ^= uint(i) + uint(l) + uint(l >> 32);
  out[tid * 8u + 5u] ^= uint(int(r)) + uint(int(h)) + s + c;
}
