// Updates of memory that are tried until they succeed. Sums and maxima are the same in whatever order lanes come.
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random N
//@ buffer uint zeros 8
//@ grid 1000 group 256
//@ grid 77 group 32
kernel void all_in_one_place(device const uint* in, device atomic_uint* sum, uint i [[thread_position_in_grid]]) {
  uint old = atomic_load_explicit(sum, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(sum, &old, old + in[i], memory_order_relaxed, memory_order_relaxed)) {
  }
}

//@ buffer uint random N
//@ buffer uint random 8
//@ grid 1000 group 256
kernel void what_is_just_read(device const uint* in, device atomic_uint* most, uint i [[thread_position_in_grid]]) {
  device atomic_uint* place = most + in[i] % 8;
  uint old;
  do old = atomic_load_explicit(place, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(place, &old, max(old, in[i] / 8), memory_order_relaxed,
                                                memory_order_relaxed));
}

// Two halves in a word, chosen at run time.
//@ buffer uint random N
//@ buffer uint zeros 8
//@ grid 1000 group 256
//@ grid 75 group 25
kernel void halves_of_words(device const uint* in, device atomic_uint* sums, uint i [[thread_position_in_grid]]) {
  const uint place = in[i] % 16;
  union {
    uint word;
    ushort halves[2];
  } value;
  uint old = atomic_load_explicit(sums + place / 2, memory_order_relaxed);
  do {
    value.word = old;
    value.halves[place & 1] += ushort(in[i] >> 8);
  } while (!atomic_compare_exchange_weak_explicit(sums + place / 2, &old, value.word, memory_order_relaxed,
                                                  memory_order_relaxed));
}

// Halves below 2048 are added exactly.
//@ buffer uint random N
//@ buffer uint zeros 8
//@ grid 500 group 128
kernel void sums_of_halves(device const uint* in, device atomic_uint* sums, uint i [[thread_position_in_grid]]) {
  device atomic_uint* place = sums + in[i] % 8;
  uint old = atomic_load_explicit(place, memory_order_relaxed);
  half2 sum;
  do sum = as_type<half2>(old) + half2(half(in[i] >> 8 & 1), half(in[i] >> 9 & 1));
  while (!atomic_compare_exchange_weak_explicit(place, &old, as_type<uint>(sum), memory_order_relaxed,
                                                memory_order_relaxed));
}

// Of what a lane updates alone, it knows what it found and what it left there.
//@ buffer uint random N
//@ buffer uint random N
//@ buffer uint zeros 2N
//@ grid 1000 group 256
//@ grid 77 group 32
kernel void results(device const uint* in, device atomic_uint* places, device uint* out,
                    uint i [[thread_position_in_grid]]) {
  if (in[i] % 3 == 0) return;
  uint old = 17, next, rounds = 0;
  do {
    next = old * 5 + in[i];
    ++rounds;
  } while (!atomic_compare_exchange_weak_explicit(places + i, &old, next, memory_order_relaxed, memory_order_relaxed));
  out[2 * i] = old ^ rounds;
  out[2 * i + 1] = next;
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ threadgroup 64
//@ grid 1000 group 256
//@ grid 300 group 100
kernel void in_threadgroup_memory(device const uint* in, device uint* out, threadgroup atomic_uint* counts,
                                  uint i [[thread_position_in_grid]], uint local [[thread_index_in_threadgroup]]) {
  if (local < 16) atomic_store_explicit(counts + local, 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = 0; j < in[i] % 5; ++j) {
    threadgroup atomic_uint* count = counts + (in[i] >> 3 * j) % 16;
    uint old = atomic_load_explicit(count, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(count, &old, old + j + 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = atomic_load_explicit(counts + local % 16, memory_order_relaxed);
}

// An array that is used before and behind the loop, too.
//@ buffer uint random N
//@ buffer uint zeros 8
//@ buffer uint zeros N
//@ grid 500 group 128
kernel void arrays_of_the_lane(device const uint* in, device atomic_uint* sums, device uint* out,
                               uint i [[thread_position_in_grid]]) {
  uint parts[8];
  for (uint j = 0; j < 8; ++j) parts[j] = in[i] >> j;
  uint old = atomic_load_explicit(sums + in[i] % 8, memory_order_relaxed);
  do parts[4 + in[i] % 3] = old + parts[in[i] % 4] % 256;
  while (!atomic_compare_exchange_weak_explicit(sums + in[i] % 8, &old, parts[4 + in[i] % 3], memory_order_relaxed,
                                                memory_order_relaxed));
  out[i] = parts[7];
}
