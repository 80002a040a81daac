// Functions of SIMD-groups and quads: all lanes, some lanes, lanes chosen by the data.
#include <metal_stdlib>
using namespace metal;

#define INDEX uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

//@ buffer uint random N
//@ buffer uint zeros 12N
kernel void reductions_and_scans(device const uint* in, device uint* out, INDEX) {
  const uint x = in[I];
  device uint* o = out + 12 * I;
  o[0] = simd_sum(x), o[1] = simd_product(x | 1), o[2] = simd_min(x), o[3] = simd_max(x);
  o[4] = simd_and(x), o[5] = simd_or(x), o[6] = simd_xor(x), o[7] = simd_prefix_inclusive_sum(x);
  o[8] = simd_prefix_exclusive_sum(x), o[9] = simd_prefix_inclusive_product(x | 1);
  o[10] = simd_prefix_exclusive_product(x | 1), o[11] = simd_broadcast_first(x);
}

//@ buffer uint random N
//@ buffer uint zeros 12N
kernel void reductions_in_divergent_code(device const uint* in, device uint* out, INDEX) {
  const uint x = in[I];
  device uint* o = out + 12 * I;
  if (x & 1) {
    o[0] = simd_sum(x), o[1] = simd_product(x | 1), o[2] = simd_min(x), o[3] = simd_max(x);
    o[4] = simd_and(x), o[5] = simd_or(x), o[6] = simd_xor(x), o[7] = simd_prefix_inclusive_sum(x);
  } else {
    o[8] = simd_prefix_exclusive_sum(x), o[9] = simd_prefix_inclusive_product(x | 1);
    for (uint k = 0; k < (x & 6); ++k) o[10] += simd_prefix_exclusive_sum(x + k) ^ simd_sum(k);
    if (x & 8) o[11] = simd_broadcast_first(x);
  }
}

//@ buffer uint random N
//@ buffer uint zeros 10N
kernel void shuffles(device const uint* in, device uint* out, INDEX, uint lane [[thread_index_in_simdgroup]]) {
  const uint x = in[I];
  device uint* o = out + 10 * I;
  const ushort by = ushort((x >> 5) & 31);
  o[0] = simd_shuffle(x, by), o[1] = simd_shuffle_xor(x, 5), o[2] = simd_shuffle_up(x, 3);
  o[3] = simd_shuffle_down(x, 9), o[4] = simd_shuffle_rotate_up(x, 7), o[5] = simd_shuffle_rotate_down(x, 1);
  o[6] = simd_broadcast(x, 4), o[7] = simd_shuffle_and_fill_up(x, lane, 6);
  o[8] = simd_shuffle_and_fill_down(x, lane * 2, 11), o[9] = simd_shuffle(x, ushort(31 - lane));
}

//@ buffer uint random N
//@ buffer uint zeros 6N
kernel void shuffles_in_divergent_code(device const uint* in, device uint* out, INDEX,
                                       uint lane [[thread_index_in_simdgroup]]) {
  const uint x = in[I];
  device uint* o = out + 6 * I;
  if (x & 2) return;
  o[0] = simd_shuffle(x, ushort(x >> 27)), o[1] = simd_shuffle_xor(x, 1);
  for (uint k = 1; k < (x & 31); k <<= 1) {
    o[2] += simd_shuffle_down(x, ushort(k));
    if ((x >> k) & 1) o[3] ^= simd_shuffle_xor(o[2], ushort(k));
  }
  o[4] = simd_shuffle_up(o[2], 1);
  o[5] = simd_shuffle(o[3], ushort(lane ^ 2));
}

//@ buffer uint random N
//@ buffer ulong zeros 6N
kernel void votes(device const uint* in, device ulong* out, INDEX) {
  const uint x = in[I];
  device ulong* o = out + 6 * I;
  o[0] = ulong(simd_vote::vote_t(simd_ballot(x & 1)));
  o[1] = ulong(simd_vote::vote_t(simd_active_threads_mask()));
  o[2] = simd_all(x > 5) | simd_any(x & 64) << 1 | simd_is_first() << 2 | simd_is_helper_thread() << 3;
  if (x & 4) o[3] = ulong(simd_vote::vote_t(simd_ballot(x & 8))) ^ (simd_is_first() ? 1ul << 60 : 0);
  for (uint k = 0; simd_any(k < (x & 7)); ++k) o[4] += k < (x & 7) ? ulong(simd_vote::vote_t(simd_active_threads_mask())) : k;
  while (true) {
    const uint first = simd_broadcast_first(x & 3);
    if (first == (x & 3)) {
      o[5] = simd_sum(x);
      break;
    }
  }
}

//@ buffer int random N
//@ buffer int zeros 12N
kernel void quads(device const int* in, device int* out, INDEX) {
  const int x = in[I];
  device int* o = out + 12 * I;
  o[0] = quad_sum(x), o[1] = quad_min(x), o[2] = quad_max(x), o[3] = quad_xor(x);
  o[4] = quad_shuffle(x, ushort(x & 3)), o[5] = quad_shuffle_xor(x, 2), o[6] = quad_broadcast(x, 1);
  o[7] = quad_prefix_inclusive_sum(x), o[8] = quad_prefix_exclusive_sum(x);
  o[9] = int(quad_vote::vote_t(quad_ballot(x & 1)));
  if (x & 2) o[10] = quad_sum(x) + quad_broadcast_first(x) + (quad_all(x & 4) ? 1 : 0);
  else o[11] = quad_shuffle_down(x, 1) ^ quad_shuffle_rotate_up(x, 3);
}

//@ buffer float random N
//@ buffer float zeros 6N
//@ buffer half zeros 4N
//@ tolerance 1e-3
kernel void floats(device const float* in, device float* out, device half* halves, INDEX) {
  const float x = in[I];
  const half h = half(x);
  device float* o = out + 6 * I;
  o[0] = simd_sum(x), o[1] = simd_max(x), o[2] = simd_prefix_inclusive_sum(x), o[3] = simd_product(1 + x / 64);
  o[4] = quad_sum(x), o[5] = simd_shuffle_xor(x, 3);
  halves[4 * I] = simd_max(h), halves[4 * I + 1] = simd_shuffle(h, ushort(I & 7));
  halves[4 * I + 2] = simd_min(h), halves[4 * I + 3] = quad_max(h);
}

//@ buffer uint random N
//@ buffer uint zeros 4N
kernel void narrow_and_wide_and_vectors(device const uint* in, device uint* out, INDEX) {
  const uint x = in[I];
  const uint4 v = simd_sum(uint4(x, x & 1, I, 1));
  const float2 f = simd_shuffle(float2(float(x & 255), float(I & 255)), ushort(x & 31));
  const ushort s = simd_prefix_exclusive_sum(ushort(x));
  const uchar c = simd_xor(uchar(x));
  const short m = simd_min(short(x));
  const bool b = simd_shuffle_xor(x & 1, 1) != 0;
  out[4 * I] = v.x ^ v.y ^ v.z ^ v.w;
  out[4 * I + 1] = uint(f.x) + uint(f.y) * 1000;
  out[4 * I + 2] = s + c * 65536u;
  out[4 * I + 3] = uint(m) + b;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void lanes_and_groups(device const uint* in, device uint* out, INDEX, uint lane [[thread_index_in_simdgroup]],
                             uint group [[simdgroup_index_in_threadgroup]], uint width [[threads_per_simdgroup]],
                             uint groups [[simdgroups_per_threadgroup]], uint quad [[thread_index_in_quadgroup]]) {
  out[I] = lane + 100 * group + 10000 * width + 1000000 * groups + quad * 7 + (in[I] & 1);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 600 group 256
//@ grid 33x9 group 16x8
kernel void reduction_across_simdgroups(device const uint* in, device uint* out, INDEX,
                                        uint lane [[thread_index_in_simdgroup]],
                                        uint group [[simdgroup_index_in_threadgroup]],
                                        uint groups [[simdgroups_per_threadgroup]]) {
  threadgroup uint partial[32];
  const uint sum = simd_sum(in[I]);
  if (simd_is_first()) partial[group] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  uint all = 0;
  for (uint k = 0; k < groups; ++k) all += partial[k];
  out[I] = all + lane;
}

//@ buffer float random 1024
//@ buffer float random 1024
//@ buffer float zeros 1024
//@ grid 128 group 64
//@ grid 256 group 128
//@ tolerance 1e-4
kernel void simdgroup_matrices_of_float(device const float* a, device const float* b, device float* c,
                                        uint group [[simdgroup_index_in_threadgroup]],
                                        uint3 place [[threadgroup_position_in_grid]]) {
  const uint row = 8 * (group & 3), column = 8 * (place.x & 3);
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0.5f), x, y;
  for (uint k = 0; k < 32; k += 8) {
    simdgroup_load(x, a + row * 32 + k, 32);
    simdgroup_load(y, b + column * 32 + k, 32, ulong2(0), true);
    simdgroup_multiply_accumulate(sum, x, y, sum);
  }
  sum.thread_elements()[0] += 1;
  simdgroup_store(sum, c + row * 32 + column, 32);
}

//@ buffer half random 512
//@ buffer bfloat random 512
//@ buffer float zeros 512
//@ buffer half zeros 512
//@ grid 64 group 32
//@ grid 96 group 96
//@ tolerance 2e-2
kernel void simdgroup_matrices_of_half_and_bfloat(device const half* a, device const bfloat* b, device float* c,
                                                  device half* d, uint group [[simdgroup_index_in_threadgroup]],
                                                  uint place [[threadgroup_position_in_grid]]) {
  threadgroup half tile[64 * 4];
  simdgroup_half8x8 x, z;
  simdgroup_bfloat8x8 y;
  simdgroup_float8x8 sum = make_filled_simdgroup_matrix<float, 8, 8>(0);
  simdgroup_load(x, a + 64 * group, 8);
  simdgroup_load(y, b + 64 * group, 8, ulong2(0), true);
  simdgroup_multiply_accumulate(sum, x, x, sum);
  simdgroup_multiply_accumulate(sum, y, y, sum);
  simdgroup_multiply(z, x, x);
  simdgroup_store(z, tile + 64 * group, 8);
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_load(z, tile + 64 * group, 8, ulong2(0), true);
  z.thread_elements()[1] *= 2.0h;
  simdgroup_store(sum, c + 64 * (group + place), 8);
  simdgroup_store(z, d + 64 * (group + place), 8);
}
