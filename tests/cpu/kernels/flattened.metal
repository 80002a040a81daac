// Ways that all lanes may take, although not all want to: chosen by what they have loaded, of all types, within one
// another, in loops, and beside ways that only some may take.
#include <metal_stdlib>
using namespace metal;

template <class T>
T chosen(T x, T y) {
  if (isnan(x) || isnan(y)) return T(7);
  if (x == y) return x;
  return x < y ? T(exp2(min(y - x, T(4)))) : T(fma(x, y, T(1)));
}

template <class T>
void four(device const T* a, device const T* b, device T* out, uint n, uint i) {
  i *= 4;
  if (i + 4 > n)
    for (int k = 0; i + k < n; ++k) out[i + k] = chosen(a[i + k], b[i + k]);
  else
    for (int k = 0; k < 4; ++k) out[i + k] = chosen(a[i + k], b[i + k]);
}

//@ buffer float special 4N
//@ buffer float special 4N
//@ buffer float zeros 4N
//@ bytes uint 1190
//@ grid 300 group 64
kernel void four_floats(device const float* a, device const float* b, device float* out, constant uint& n,
                        uint i [[thread_position_in_grid]]) {
  four(a, b, out, n, i);
}

//@ buffer half special 4N
//@ buffer half special 4N
//@ buffer half zeros 4N
//@ bytes uint 1190
//@ grid 300 group 64
kernel void four_halves(device const half* a, device const half* b, device half* out, constant uint& n,
                        uint i [[thread_position_in_grid]]) {
  four(a, b, out, n, i);
}

//@ buffer bfloat random 4N
//@ buffer bfloat random 4N
//@ buffer bfloat zeros 4N
//@ bytes uint 1190
//@ grid 300 group 64
kernel void four_bfloats(device const bfloat* a, device const bfloat* b, device bfloat* out, constant uint& n,
                         uint i [[thread_position_in_grid]]) {
  four(a, b, out, n, i);
}

//@ buffer int special N
//@ buffer int zeros N
kernel void within_one_another(device const int* in, device int* out, uint2 at [[thread_position_in_grid]],
                               uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x;
  const int x = in[i];
  int y = x;
  if (x & 1) {
    y = x * 3 + 1;
    if (x & 2) {
      y ^= y << 7;
      if (x < 0) y = popcount(y);
    } else if (x > 100) {
      y = clz(x) - y;
    }
    y += 5;
  } else if (x != 0) {
    y = x / 10 + abs(x % 7);
  }
  out[i] = y;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void in_loops(device const uint* in, device uint* out, uint2 at [[thread_position_in_grid]],
                     uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x;
  uint x = in[i], steps = 0;
  while (x > 1 && steps < 40) {
    if (x & 1)
      x = x * 3 + 1;
    else
      x >>= 1;
    if (x % 3 == 0) continue;
    ++steps;
    if (x == 0x1234) break;
    if (x >= 0x80000000) x = ~x;
  }
  out[i] = steps << 16 ^ x;
}

//@ buffer uint random N
//@ buffer uint random 64
//@ buffer uint zeros N
kernel void beside_memory_and_divisions(device const uint* in, device const uint* table, device uint* out,
                                        uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x;
  const uint x = in[i];
  uint y = 0;
  if (x < 64) y = table[x];
  if (y & 1) y = y * 5 + 3;
  if (x != 0) y += 1000000 / x;
  if (y > x) y -= x;
  out[i] = y;
}

//@ buffer long special N
//@ buffer long zeros N
kernel void longs(device const long* in, device long* out, uint2 at [[thread_position_in_grid]],
                  uint2 size [[threads_per_grid]]) {
  const uint i = at.y * size.x + at.x;
  const long x = in[i];
  out[i] = x < 0 ? (x & 4 ? -x : x * 3) : x > 1000 ? x >> 3 : x + 9;
}

//@ buffer float random N
//@ buffer float zeros N
//@ grid 200 group 64
kernel void before_simdgroup_functions(device const float* in, device float* out,
                                       uint i [[thread_position_in_grid]]) {
  float x = in[i];
  if (x > 0.5f) x = x * x - 1;
  const float sum = simd_sum(x);
  out[i] = x > 0 ? sum * 0.25f : sum + simd_max(x);
}
