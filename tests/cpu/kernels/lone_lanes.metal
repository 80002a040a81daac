// Loops that one thread of many runs while the others wait for it, or have ended.
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random 1024
//@ buffer uint zeros 64
//@ grid 1024 group 128
//@ grid 96 group 32
//@ grid 60 group 20
//@ grid 64x8 group 16x8
kernel void largest_four(device const uint* in, device uint* out, uint2 groups [[threadgroups_per_grid]],
                         uint2 group [[threadgroup_position_in_grid]], uint index [[thread_index_in_threadgroup]],
                         uint2 size [[threads_per_threadgroup]]) {
  threadgroup uint values[128];
  const uint number = group.y * groups.x + group.x, count = size.x * size.y;
  values[index] = in[number * count + index] % 1000;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (index == 0) {
    uint best[4] = {0, 0, 0, 0};
    for (uint i = 0; i < count; ++i) {
      const uint value = values[i];
      if (value <= best[3]) continue;
      int place = 3;
      while (place > 0 && best[place - 1] < value) {
        best[place] = best[place - 1];
        --place;
      }
      best[place] = value;
    }
    for (int i = 0; i < 4; ++i) out[number * 4 + i] = best[i];
  }
}

//@ buffer uint random 256
//@ buffer uint zeros 257
//@ bytes uint 256
//@ grid 1 group 1
//@ grid 40 group 40
//@ grid 500 group 250
kernel void offsets_by_the_first(device const uint* counts, device uint* offsets, constant uint& n,
                                 uint i [[thread_position_in_grid]]) {
  if (i != 0) return;
  uint sum = 0;
  for (uint k = 0; k < n; ++k) {
    offsets[k] = sum;
    sum += counts[k] % 100;
  }
  offsets[n] = sum;
}

// What the thread has found before, its own number, and a condition besides.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 5
//@ grid 500 group 125
//@ grid 1000 group 256
//@ grid 33 group 33
kernel void the_one_with_a_number(device const uint* in, device uint* out, constant uint& who,
                                  uint i [[thread_position_in_grid]], uint index [[thread_index_in_threadgroup]],
                                  uint size [[threads_per_threadgroup]], uint n [[threads_per_grid]]) {
  const uint own = in[i] % 50;
  out[i] = own;
  threadgroup_barrier(mem_flags::mem_device);
  if (index == who && own > 3) {
    const uint start = i - index, end = min(start + size, n);
    for (uint k = start + 1; k < end; ++k) out[k] = out[k - 1] * own + index + (k & 7);
  }
}

// Arrays that others use as well, and a result that they need.
//@ buffer uint random 320
//@ buffer uint zeros N
//@ grid 320 group 64
//@ grid 96 group 32
kernel void what_others_use_too(device const uint* in, device uint* out, uint i [[thread_position_in_grid]],
                                uint lane [[thread_index_in_simdgroup]]) {
  uint mine[16], sum = 0;
  for (uint k = 0; k < 16; ++k) mine[k] = in[(i + k) % 320] + k;
  if (lane == 3) {
    for (uint k = 0; k < in[i] % 16; ++k) {
      sum += mine[(k * 5 + in[k]) % 16];
      mine[in[k] % 16] = sum;
    }
  }
  out[i] = simd_sum(sum) + mine[in[i] % 16];
}

// In a loop, with atomics, and the end of the kernel behind it.
//@ buffer uint random 512
//@ buffer uint zeros 16
//@ buffer uint zeros 512
//@ grid 512 group 256
//@ grid 200 group 50
kernel void again_and_again(device const uint* in, device atomic_uint* counts, device uint* out,
                            uint index [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]],
                            uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]]) {
  threadgroup uint shared[256];
  for (uint round = 0; round < 3; ++round) {
    shared[index] = in[i] >> round;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (index == round) {
      uint kinds[16] = {};
      for (uint k = 0; k < size; ++k) kinds[shared[k] % 16] += 1;
      for (uint k = 0; k < 16; ++k) atomic_fetch_add_explicit(counts + k, kinds[k] * (group + 1), memory_order_relaxed);
      for (uint k = 0; k < size; ++k) shared[k] ^= kinds[k % 16];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] += shared[index];
  }
  threadgroup_barrier(mem_flags::mem_device);
  if (index != size - 1) return;
  for (uint k = 0; k < size; k += 2) out[i - k] ^= 1;
}

// Vectors, halves, and an index beyond an array, which does no harm.
//@ buffer float random 512
//@ buffer half zeros 512
//@ grid 128 group 64
//@ tolerance 1e-3
kernel void of_several_types(device const float4* in, device half4* out, uint i [[thread_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]]) {
  const half4 scale = half4(in[i]);
  if (lane == 31) {
    half4 sums[3] = {0, 0, 0};
    for (uint k = 0; k < 32; ++k) sums[k % 5] += half4(in[i - k]) * scale;
    for (uint k = 0; k < 32; ++k) out[i - k] = sums[k % 3];
  }
}
