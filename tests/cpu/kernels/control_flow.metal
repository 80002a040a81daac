// Control flow in which the lanes of a SIMD-group part and meet again.
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random N
//@ buffer uint zeros N
kernel void nested_divergent_loops(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                   uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i];
  for (uint a = 0; a < (x & 7); ++a) {
    for (uint b = a; b < (i & 5); ++b) {
      x = x * 1664525u + 1013904223u;
      uint c = 0;
      while (c < (x >> 28)) {
        if ((x + c) % 5 == 0) break;
        c += 1 + (b & 1);
        x ^= x << 3;
      }
      if (x % 7 == 3) continue;
      x += c;
    }
    if (x % 11 == 5) break;
  }
  out[i] = x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void breaks_and_continues(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                 uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i], n = 0;
  while (true) {
    ++n;
    x = x * 22695477u + 1u;
    if (x & 0x100) continue;
    if (n > 20) break;
    do {
      x ^= x >> 5;
      if (x & 1) break;
      if (x & 2) continue;
      x += n;
    } while ((x & 0x30) != 0x10 && ++n < 40);
    if ((x & 0xF0000) == 0) break;
  }
  out[i] = x ^ n;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void switch_with_fallthrough(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                    uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i] ^ i, r = 1;
  for (uint k = 0; k < 3; ++k) {
    switch ((x >> k) & 7) {
      case 0: r += 3;
      case 1: r *= 5; break;
      case 2:
      case 5:
        if (r & 4) break;
        r ^= x;
      case 3: r += x; continue;
      case 6: r = ~r;
      default: r -= 7;
    }
    r = rotate(r, 3u);
  }
  switch (x) {
    case 0xFFFFFFFFu: r = 1; break;
    case 5: r = 2; break;
    case 1000000: r = 3; break;
  }
  out[i] = r;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void early_returns(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                          uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  if (i % 13 == 4) return;
  uint x = in[i];
  for (uint k = 0; k < 10; ++k) {
    x = x * 69069u + 1u;
    if ((x >> 20) % 9 == 0) {
      out[i] = x + k;
      return;
    }
    if (k > 6 && i % 3 == 0) return;
  }
  out[i] = ~x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void gotos_that_jump_backwards_and_into_tails(device const uint* in, device uint* out,
                                                     uint3 at [[thread_position_in_grid]],
                                                     uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i], n = 0;
again:
  x = x * 1103515245u + 12345u;
  if (++n > 12) goto end;
  if (x & 0x10000) goto odd;
  x ^= n;
  if (x & 0x40000) goto again;
even:
  x += 17;
  if (n < 5 && (x & 0x80000)) goto again;
  goto end;
odd:
  x -= 3;
  if (x & 0x20000) goto even;
  if (x & 0x400000) goto again;
end:
  out[i] = x + n;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void irreducible(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                        uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i], n = 0;
  if (x & 1) goto second;
first:
  x = x * 5 + 1;
  if (++n > 9) goto done;
second:
  x ^= x >> 3;
  if (++n > 8) goto done;
  if (x & 6) goto first;
  if (x & 8) goto second;
done:
  out[i] = x ^ (n << 28);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 5
kernel void uniform_loop_with_barriers(device const uint* in, device uint* out, constant uint& rounds,
                                       uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
                                       uint lid [[thread_index_in_threadgroup]],
                                       uint3 size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), threads = size.x * size.y * size.z;
  uint x = in[i];
  for (uint k = 0; k < rounds; ++k) {
    shared[lid] = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lid % (k + 2) == 0) x += shared[(lid + k * 7 + 1) % threads];
    if (k == rounds - 1) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      break;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void barrier_after_divergent_code_and_early_end(device const uint* in, device uint* out,
                                                       uint3 at [[thread_position_in_grid]],
                                                       uint3 grid [[threads_per_grid]],
                                                       uint lid [[thread_index_in_threadgroup]],
                                                       uint3 size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), threads = size.x * size.y * size.z;
  uint x = in[i];
  if (x & 1)
    for (uint k = 0; k < (x >> 29); ++k) x = x * 3 + k;
  else if (x & 2)
    x = ~x;
  shared[lid] = x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint other = shared[threads - 1 - lid];
  if (other & 4) return;
  for (uint k = 0; k < (other & 15); ++k) x += other >> k;
  out[i] = x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void tree_reduction(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                           uint3 grid [[threads_per_grid]], uint lid [[thread_index_in_threadgroup]],
                           uint3 size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), threads = size.x * size.y * size.z;
  shared[lid] = in[i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint half_way = 256;
  while (half_way > 0) {
    half_way >>= 1;
    if (lid < half_way && lid + half_way < threads) shared[lid] += shared[lid + half_way];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  out[i] = shared[0];
}

// Collatz: trip counts that differ wildly.
//@ buffer uint below:3000 N
//@ buffer uint zeros N
kernel void long_divergent_loop(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = in[i] + 1, n = 0;
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    ++n;
  }
  out[i] = n;
}

static uint gcd(uint a, uint b) {
  while (b != 0) {
    const uint t = a % b;
    a = b;
    b = t;
    if (a == 1) return 1;
  }
  return a;
}

static bool find(device const uint* in, uint wanted, thread uint& where) {
  for (uint k = 0; k < 16; ++k)
    if (in[k] % 8 == wanted) {
      where = k;
      return true;
    }
  return false;
}

//@ buffer uint random N+16
//@ buffer uint zeros N
kernel void functions_with_loops_and_returns(device const uint* in, device uint* out,
                                             uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint where = 99;
  const uint x = in[i];
  const bool found = find(in, x & 7, where);
  out[i] = gcd(x, i + 12) * (found ? 1 : 1000) + (x % 3 == 0 ? gcd(where, 12) : where);
}

// The calls on the way out stand in the loop: lanes that take it in different iterations do not meet.
static uint sum_of_equals(uint key, uint x) {
  while (true)
    if (simd_broadcast_first(key) == key) return simd_sum(x);
}

template <class T> static T last_of_equals(T key, T x) {
  T result;
  for (;;) {
    if (simd_broadcast_first(key) != key) continue;
    result = simd_max(x) + simd_prefix_inclusive_sum(x);
    break;
  }
  return result;
}

//@ buffer uint random N
//@ buffer uint zeros 4N
//@ grid 100 group 64
//@ grid 256 group 256
//@ grid 20x7 group 16x4
kernel void meetings_on_the_way_out(device const uint* in, device uint* out, uint2 at [[thread_position_in_grid]],
                                    uint2 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * at.y, x = in[i];
  device uint* o = out + 4 * i;
  o[0] = sum_of_equals(x % 3, x);
  o[1] = last_of_equals(x % 4, x);
  for (uint k = 0; k < 8; ++k)
    for (uint j = 0; j < 4; ++j) {
      if ((x >> k & 7) == j) {
        o[2] += simd_sum(x + j);
        if (simd_any(x & 1)) break;
      }
      if ((x >> k & 31) == 0) {
        o[3] = simd_sum(k) + simd_prefix_exclusive_sum(1u);
        return;
      }
    }
}
