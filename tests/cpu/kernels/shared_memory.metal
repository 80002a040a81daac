// Memory that threads share: threadgroup memory, atomics.
#include <metal_stdlib>
using namespace metal;

#define INDEX uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))
#define RELAXED memory_order_relaxed

//@ buffer uint random N
//@ buffer uint random 64
//@ buffer int random 64
kernel void atomics_without_results(device const uint* in, device atomic_uint* u, device atomic_int* s, INDEX) {
  const uint x = in[I];
  atomic_fetch_add_explicit(&u[x & 7], x, RELAXED);
  atomic_fetch_sub_explicit(&u[8 + (x & 7)], x, RELAXED);
  atomic_fetch_or_explicit(&u[16 + (x & 7)], 1u << (x & 31), RELAXED);
  atomic_fetch_and_explicit(&u[24 + (x & 7)], ~(1u << (x & 31)), RELAXED);
  atomic_fetch_xor_explicit(&u[32 + (x & 7)], x, RELAXED);
  atomic_fetch_min_explicit(&u[40 + (x & 7)], x, RELAXED);
  atomic_fetch_max_explicit(&u[48 + (x & 7)], x, RELAXED);
  atomic_fetch_min_explicit(&s[x & 7], int(x), RELAXED);
  atomic_fetch_max_explicit(&s[8 + (x & 7)], int(x), RELAXED);
  if (x & 1) atomic_fetch_add_explicit(&s[16 + (x & 15)], int(x), RELAXED);
  atomic_fetch_add_explicit(&u[63], 1, RELAXED);
  if (x & 2) atomic_fetch_max_explicit(&u[62], I, RELAXED);
}

// Every thread gets a slot of its own, in some order: the sums over slots are known.
//@ buffer uint random N
//@ buffer uint zeros N
//@ buffer uint zeros 8
kernel void results_of_atomics(device const uint* in, device uint* taken, device atomic_uint* counters, INDEX) {
  const uint x = in[I];
  const uint slot = atomic_fetch_add_explicit(&counters[0], 1, RELAXED);
  atomic_fetch_xor_explicit(&counters[1], slot * 2654435761u, RELAXED);
  taken[slot] = 1;
  if (x & 1) {
    const uint mine = atomic_fetch_add_explicit(&counters[2 + (x & 2)], 3, RELAXED);
    atomic_fetch_xor_explicit(&counters[3], mine * 40503u, RELAXED);
  }
}

//@ buffer uint random N
//@ buffer uint zeros 16
kernel void compare_and_exchange(device const uint* in, device atomic_uint* totals, INDEX) {
  device atomic_uint* total = totals + (in[I] & 3);
  uint old = atomic_load_explicit(total, RELAXED);
  while (!atomic_compare_exchange_weak_explicit(total, &old, old + (in[I] >> 8), RELAXED, RELAXED)) {
  }
  if (I == 0) atomic_store_explicit(&totals[8], 77, RELAXED);
  if (I == 1) atomic_store_explicit(&totals[9], atomic_exchange_explicit(&totals[10], 5, RELAXED), RELAXED);
}

// Whole numbers: in any order the sum is the same.
//@ buffer float below:100 N
//@ buffer float zeros 4
kernel void atomic_floats(device const float* in, device atomic_float* sums, INDEX) {
  atomic_fetch_add_explicit(&sums[0], in[I], RELAXED);
  if (in[I] > 50) atomic_fetch_add_explicit(&sums[1 + (I & 1)], 2 * in[I], RELAXED);
}

//@ buffer uint random N
//@ buffer uint zeros 256
//@ buffer uint zeros N
kernel void histogram_in_threadgroup_memory(device const uint* in, device atomic_uint* out, device uint* seen, INDEX,
                                            uint lid [[thread_index_in_threadgroup]],
                                            uint3 size [[threads_per_threadgroup]]) {
  threadgroup atomic_uint bins[32];
  threadgroup atomic_int least;
  const uint threads = size.x * size.y * size.z;
  for (uint k = lid; k < 32; k += threads) atomic_store_explicit(&bins[k], 0, RELAXED);
  if (lid == 0) atomic_store_explicit(&least, 1000000, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint x = in[I];
  atomic_fetch_add_explicit(&bins[x & 31], 1, RELAXED);
  if (x & 64) atomic_fetch_min_explicit(&least, int(x & 0xFFFF), RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = lid; k < 32; k += threads) atomic_fetch_add_explicit(&out[k], atomic_load_explicit(&bins[k], RELAXED), RELAXED);
  seen[I] = atomic_load_explicit(&bins[(x >> 8) & 31], RELAXED) + uint(atomic_load_explicit(&least, RELAXED));
}

// Counters in loops: of bytes where they lie, of indices that are computed, in some lanes only; some are read and set
// while others count, and one gives its old value.
//@ buffer uchar random 4N+1
//@ buffer uint zeros 400
//@ buffer uint zeros N
kernel void counting_in_loops(device const uchar* bytes, device atomic_uint* out, device uint* seen, INDEX,
                              uint lid [[thread_index_in_threadgroup]], uint3 size [[threads_per_threadgroup]]) {
  threadgroup atomic_uint bins[256], few[16], twice[64];
  threadgroup atomic_int sums[40];
  threadgroup uint plain[8];
  const uint threads = size.x * size.y * size.z, all = grid.x * grid.y * grid.z;
  for (uint k = lid; k < 256; k += threads) atomic_store_explicit(&bins[k], 0, RELAXED);
  for (uint k = lid; k < 64; k += threads) atomic_store_explicit(&twice[k], k, RELAXED);
  for (uint k = lid; k < 40; k += threads) atomic_store_explicit(&sums[k], -int(k), RELAXED);
  for (uint k = lid; k < 16; k += threads) atomic_store_explicit(&few[k], 7, RELAXED);
  for (uint k = lid; k < 8; k += threads) plain[k] = 3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = I, k = 0; j < 4 * all; j += all, ++k) {
    atomic_fetch_add_explicit(&bins[bytes[j]], 1, RELAXED);
    atomic_fetch_add_explicit(&sums[bytes[j] % 40], int(bytes[j]) - 100, RELAXED);
    if (bytes[j] & 1) atomic_fetch_add_explicit(&twice[bytes[j] / 4], k + 1, RELAXED);
    atomic_fetch_add_explicit(&few[bytes[j] & 3], k, RELAXED);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lid < 64) atomic_store_explicit(&twice[lid], atomic_load_explicit(&twice[lid], RELAXED) * 3, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = 0; k < min(2u, all); ++k) {
    atomic_fetch_add_explicit(&twice[(bytes[I] + k) % 64], 5, RELAXED);
    atomic_fetch_add_explicit((threadgroup atomic_uint*)&plain[bytes[I + k] % 8], bytes[I + k], RELAXED);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = lid; k < 256; k += threads)
    atomic_fetch_add_explicit(&out[k], atomic_load_explicit(&bins[k], RELAXED), RELAXED);
  for (uint k = lid; k < 64; k += threads)
    atomic_fetch_add_explicit(&out[256 + k], atomic_load_explicit(&twice[k], RELAXED), RELAXED);
  for (uint k = lid; k < 40; k += threads)
    atomic_fetch_add_explicit(&out[320 + k], uint(atomic_load_explicit(&sums[k], RELAXED)), RELAXED);
  for (uint k = lid; k < 16; k += threads)
    atomic_fetch_add_explicit(&out[360 + k], atomic_fetch_add_explicit(&few[k], 1, RELAXED), RELAXED);
  for (uint k = lid; k < 8; k += threads) atomic_fetch_add_explicit(&out[380 + k], plain[k], RELAXED);
  seen[I] = atomic_load_explicit(&bins[bytes[I]], RELAXED) + atomic_load_explicit(&twice[bytes[I] % 64], RELAXED);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ threadgroup 1024
//@ threadgroup 512
kernel void dynamic_threadgroup_memory(device const uint* in, device uint* out, threadgroup uint* words [[threadgroup(0)]],
                                       threadgroup ushort* shorts [[threadgroup(1)]], INDEX,
                                       uint lid [[thread_index_in_threadgroup]],
                                       uint3 size [[threads_per_threadgroup]]) {
  const uint threads = size.x * size.y * size.z;
  words[lid] = in[I];
  shorts[threads - 1 - lid] = ushort(in[I] >> 7);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[I] = words[(in[I] >> 3) % threads] + shorts[lid];
}

struct Tile {
  float values[16][17];
  uint2 corner;
};

//@ buffer float random N
//@ buffer float zeros N
//@ grid 32x32 group 16x16
//@ grid 48x16 group 16x8
kernel void transpose_through_a_tile(device const float* in, device float* out, INDEX,
                                     uint3 local [[thread_position_in_threadgroup]],
                                     uint3 group [[threadgroup_position_in_grid]]) {
  threadgroup Tile tile;
  if (local.x == 0 && local.y == 0) tile.corner = group.xy;
  tile.values[local.y][local.x] = in[I];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint turned = (local.x + 3 * local.y) & 7;
  out[I] = tile.values[turned][local.x] + float(tile.corner.x * 10 + tile.corner.y);
}

//@ buffer float random N
//@ buffer float zeros N
//@ grid 256 group 256
//@ grid 512 group 64
kernel void bitonic_sort(device const float* in, device float* out, INDEX, uint lid [[thread_index_in_threadgroup]],
                         uint3 size [[threads_per_threadgroup]]) {
  threadgroup float values[256];
  values[lid] = in[I];
  for (uint k = 2; k <= size.x; k <<= 1)
    for (uint j = k >> 1; j > 0; j >>= 1) {
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = lid ^ j;
      if (other > lid && ((lid & k) == 0) == (values[lid] > values[other])) {
        const float swapped = values[lid];
        values[lid] = values[other];
        values[other] = swapped;
      }
    }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[I] = values[lid];
}

//@ buffer uint zeros N
kernel void threads_that_wait_for_each_other(device uint* out, INDEX, uint lid [[thread_index_in_threadgroup]]) {
  threadgroup atomic_uint turn;
  if (lid == 0) atomic_store_explicit(&turn, 0, RELAXED);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&turn, 1, RELAXED);
  if (lid == 0)
    while (atomic_load_explicit(&turn, RELAXED) == 0) {
    }
  out[I] = 1;
}
