// Loops and barriers in threadgroups of several SIMD-groups, which may go together: what they have in common, what each
// does by itself, and what they agree on or not.
#include <metal_stdlib>
using namespace metal;

#define INDEX uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))
#define INSIDE                                                                                       \
  uint l [[thread_index_in_threadgroup]], uint3 size [[threads_per_threadgroup]],                    \
      uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]

//@ buffer uint random N
//@ buffer uint zeros 8N
//@ grid 512 group 256
//@ grid 300 group 128
//@ grid 45x20 group 16x16
//@ grid 64x9 group 32x4
kernel void simdgroups_that_disagree(device const uint* in, device uint* out, INDEX, INSIDE) {
  const uint x = in[I];
  device uint* o = out + 8 * I;
  for (uint k = 0; k < simdgroup + 1; ++k) o[0] += simd_sum(x + k) ^ simd_prefix_exclusive_sum(k + lane);
  if (simdgroup & 1) {
    o[1] = simd_shuffle_xor(x, 3);
    if (x & 1) o[2] = simd_sum(x);
  } else {
    o[1] = simd_broadcast(x, ushort(lane & 7));
    if (simd_any(x % 64 == 0)) o[2] = simd_max(x);
  }
  o[3] = uint(simd_active_threads_mask().operator simd_vote::vote_t());
  if (simd_all(x > 100)) return;
  for (uint k = x & 7; k < 8; ++k) o[4] += uint(simd_ballot((x >> k) & 1).operator simd_vote::vote_t());
  o[5] = simd_broadcast_first(x) + quad_sum(x);
  if (simd_is_first()) o[6] = simdgroup;
  o[7] = simd_shuffle_and_fill_down(x, x ^ 0x55, ushort(simdgroup & 7));
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 512 group 256
//@ grid 384 group 192
//@ grid 48x32 group 16x16
kernel void a_simdgroup_that_leaves(device const uint* in, device uint* out, INDEX, INSIDE) {
  threadgroup uint partial[32];
  uint sum = 0;
  for (uint k = 0; k < 5; ++k) sum += in[I] >> k;
  sum = simd_sum(sum);
  if (lane == 0) partial[simdgroup] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[I] = sum;
  if (simdgroup != 1) return;
  const uint count = (size.x * size.y * size.z + 31) / 32;
  out[I] = simd_sum(lane < count ? partial[lane] : 0u) + simd_prefix_inclusive_sum(lane);
}

//@ buffer float random 4096
//@ buffer float zeros N
//@ bytes uint 1000
//@ grid 512 group 256
//@ grid 500 group 128
//@ grid 64x16 group 32x8
//@ tolerance 1e-4
kernel void strides_of_a_threadgroup(device const float* in, device float* out, constant uint& length, INDEX, INSIDE) {
  threadgroup float shared[256];
  const uint threads = size.x * size.y * size.z;
  float sum = 0, most = -INFINITY;
  for (uint k = l; k < length; k += threads) sum += in[k], most = max(most, in[k + 1]);
  shared[l] = sum;
  for (uint step = threads / 2; step > 0; step /= 2) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l < step) shared[l] += shared[l + step];
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const float all = shared[0];
  const float largest = simd_max(most);
  for (uint k = l; k < threads; k += 64) out[I] += all * 1e-3f + largest * in[k];
}

//@ buffer float random 64
//@ buffer float random 4096
//@ buffer float zeros N
//@ bytes uint 64
//@ grid 64x24 group 16x16
//@ grid 64x24 group 16x8
//@ grid 64x13 group 32x4
//@ grid 60x13 group 64x2
//@ tolerance 1e-3
kernel void products_of_a_row(device const float* row, device const float* matrix, device float* out,
                              constant uint& length, INDEX) {
  if (at.x >= length - 5) return;
  float sum = 0;
  for (uint k = 0; k < length; ++k) sum += row[(k + at.y) % 64] * matrix[k * length + at.x];
  out[I] = sum;
}

//@ buffer uchar random 4N
//@ buffer short random 4N
//@ buffer uint zeros 1024
//@ buffer uint zeros N
//@ grid 512 group 256
//@ grid 300 group 128
//@ grid 77 group 64
kernel void counts_by_narrow_indices(device const uchar* bytes, device const short* shorts, device atomic_uint* counts,
                                     device uint* out, INDEX, INSIDE) {
  threadgroup atomic_uint mine[512];
  for (uint k = l; k < 512; k += size.x) atomic_store_explicit(&mine[k], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup atomic_uint* middle = mine + 384;
  for (uint k = 0; k < 4; ++k) {
    atomic_fetch_add_explicit(&mine[bytes[4 * I + k]], 1, memory_order_relaxed);
    const short place = short(shorts[4 * I + k] % 128);
    atomic_fetch_max_explicit(&middle[place], uint(bytes[4 * I + k]), memory_order_relaxed);
    if (bytes[4 * I + k] & 1) atomic_fetch_add_explicit(&counts[512 + place], k, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint sum = 0;
  for (uint k = l; k < 512; k += size.x) {
    const uint count = atomic_load_explicit(&mine[k], memory_order_relaxed);
    atomic_fetch_add_explicit(&counts[k], count, memory_order_relaxed);
    sum += count * (k + 1);
  }
  out[I] = sum;
}

//@ buffer uint random 2048
//@ buffer uchar random 64
//@ buffer uint zeros N
//@ grid 512 group 256
//@ grid 512 group 128
//@ grid 300 group 64
//@ grid 77 group 32
kernel void places_that_repeat(device const uint* in, device const uchar* bytes, device uint* out, INDEX, INSIDE) {
  const uint row = in[3] % 200;
  uint sum = in[l % 8] + 3 * in[100 + l / 2 % 8] + 5 * in[200 + l % 4 * row] + 7 * bytes[l % 16 + 1];
  sum += in[900 + l % 32 * 5] ^ in[1100 + (l ^ 5) % 8] ^ in[l % 4 / 2 * row + l % 2];
  threadgroup uint shared[16];
  if (l < 16) shared[l] = in[1500 + l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum += 11 * shared[l % 16];
  if (sum & 1) sum ^= in[1200 + l % 8] + shared[l % 4 * 4];
  out[I] = sum;
}
