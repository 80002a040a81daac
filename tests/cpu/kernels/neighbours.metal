// What a lane accesses side by side, by indices that may wrap around between two of them; pieces of memory that lanes
// load anywhere; and what lanes agree on because groups start at multiples of their width.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

//@ buffer uint random 4N
//@ buffer uint zeros 4N
kernel void four_of_each_lane(device const uint* in, device uint* out, INDEX) {
  const uint first = I * 4;
  uint values[4], sum = 0;
  for (uint j = 0; j < 4; ++j) values[j] = sum += in[first + j];
  for (uint j = 0; j < 4; ++j) out[first + j] = values[j] ^ sum;
}

//@ buffer uint random 12N
//@ buffer uint zeros 12N
kernel void rows_of_other_lengths(device const uint* in, device uint* out, INDEX) {
  const uint i = I, n = grid.x * grid.y * grid.z;
  uint sum = 0;
  for (uint j = 0; j < 3; ++j) sum = sum * 3 + in[i * 3 + j];
  for (uint j = 0; j < 5; ++j) sum = sum * 3 + in[3 * n + i * 5 + j];
  sum += in[2 * i + 1] ^ in[2 * i];
  for (uint j = 0; j < 4; ++j) out[(n - 1 - i) * 4 + 3 - j] = sum + j;
  if (sum & 1)
    for (uint j = 0; j < 4; ++j) out[4 * n + i * 4 + j] = in[8 * n + i * 4 + j] * sum;
  for (uint j = 0; j < 3; ++j) out[8 * n + i * 3 + j] = sum * j;
}

//@ buffer ushort random 65536
//@ buffer ushort zeros 65536
kernel void neighbours_that_wrap(device const ushort* in, device ushort* out, INDEX) {
  const ushort first = ushort(ushort(I) * 4 + 65518);
  ushort values[4];
  for (ushort j = 0; j < 4; ++j) values[j] = in[ushort(first + j)];
  for (ushort j = 0; j < 4; ++j) out[ushort(first + j)] = values[j] ^ values[3 - j];
}

struct Block {
  ushort scale;
  uchar quants[16];
};

//@ buffer uchar random 1152
//@ buffer uint random N
//@ buffer uint zeros N
kernel void blocks_of_bytes(device const Block* blocks, device const uint* in, device uint* out, INDEX) {
  const uint i = I, x = in[i];
  uint sum = 0;
  for (uint j = 0; j < 16; ++j) sum = sum * 5 + (blocks[x & 63].quants[j] & 15) * (j + 1);
  if (x & 64)
    for (uint j = 0; j < 16; ++j) sum = sum * 7 + (blocks[(x >> 8) & 63].quants[j] >> 4);
  for (uint j = 0; j < 16; ++j) sum ^= uint(blocks[i & 31].quants[j]) << j;
  out[i] = sum * blocks[x & 63].scale;
}

//@ buffer uint random 640
//@ buffer uint random N
//@ buffer uint zeros 4N
kernel void vectors_anywhere(device const uint* words, device const uint* in, device uint4* out, INDEX) {
  const uint i = I, x = in[i];
  device const uint4* vectors = (device const uint4*)words;
  device const ushort* halves = (device const ushort*)words;
  uint4 sum = vectors[x & 127];
  if (x & 1) sum += vectors[(x >> 10) & 127].wzyx;
  const uint start = (x >> 20) & 511;
  for (uint j = 0; j < 5; ++j) sum[j & 3] += words[start + j];
  for (uint j = 0; j < 11; ++j) sum[j & 3] ^= halves[start + j] * j;
  for (uint j = 0; j < 16; j += 5) sum[j & 3] -= words[(start & 255) + j];
  out[i] = sum;
}

//@ buffer uint random N+16
//@ buffer uint zeros N
kernel void parts_of_positions(device const uint* in, device uint* out, INDEX,
                               uint local [[thread_index_in_threadgroup]], uint3 inside [[thread_position_in_threadgroup]],
                               uint3 size [[threads_per_threadgroup]], uint3 group [[threadgroup_position_in_grid]]) {
  const uint n = grid.x * grid.y * grid.z;
  uint sum = in[at.x / 64 % n] + in[at.x % 16] * 3 + in[(at.x & 31) / 2 % n] * 5 + in[(at.x >> 3) % n] * 7;
  if (at.x / 32 > 0) sum += in[at.x / 32 - 1];
  if (at.x / 8 % 2) sum ^= at.x;
  sum = sum * 3 + in[local / 32 % n] + in[inside.x / 16 % n] + in[(inside.y / 2 + inside.z) % n] + in[at.y / 2 % n];
  if (at.x != group.x * size.x + inside.x && size.x * (group.x + 1) < grid.x) sum = 12345;
  out[I] = sum + (at.x ^ 5) + (at.x | 32);
}

//@ buffer uint random N
//@ buffer uint zeros 64
kernel void counts_in_threadgroups(device const uint* in, device atomic_uint* out, INDEX,
                                   uint local [[thread_index_in_threadgroup]],
                                   uint3 size [[threads_per_threadgroup]]) {
  threadgroup atomic_uint counts[64];
  const uint threads = size.x * size.y * size.z, x = in[I];
  for (uint j = local; j < 64; j += threads) atomic_store_explicit(&counts[j], 0, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&counts[x & 15], 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&counts[16 + (x & 15)], x, memory_order_relaxed);
  atomic_fetch_max_explicit(&counts[32 + (x & 15)], threads, memory_order_relaxed);
  if (x & 32) atomic_fetch_xor_explicit(&counts[48 + ((x >> 6) & 15)], x, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = local; j < 64; j += threads)
    atomic_fetch_add_explicit(&out[j], atomic_load_explicit(&counts[j], memory_order_relaxed), memory_order_relaxed);
}

// Addresses that follow one another or not, as the data has it, and others at constant distances from them.
// Pieces of four have to begin at multiples of 16 bytes also where a buffer ends at such.
//@ buffer uint random 4N+640
//@ buffer uint random 4
//@ buffer uint zeros 4N+640
kernel void constant_distances(device const uint* in, device const uint* given, device uint* out, INDEX) {
  const uint i = I, distance = 1u << (given[0] & 7);
  const uint first = 2 * i - (i & (distance - 1));
  device const uint* from = in + first;
  device uint* to = out + first;
  uint values[5];
  for (uint j = 0; j < 5; ++j) values[j] = from[128 * j];
  device const uint4* pieces = (device const uint4*)(in + (first & ~3u));
  const uint4 sum = pieces[0] + pieces[20] * pieces[40];
  to[0] = values[0] ^ values[4] ^ (sum.x + 3 * sum.y + 5 * sum.z + 7 * sum.w);
  if (values[1] & 1) {
    to[0] += from[64] + from[192];
    to[0] ^= pieces[30].x * pieces[50].z;
  }
}

// Of what a lane stores side by side, one half is computed, and the other copied.
//@ buffer uint random 4096
//@ buffer uint random 4096
//@ buffer uint zeros 4096
//@ grid 64 group 64
//@ grid 100 group 50
kernel void one_half_is_copied(device const uint* in, device const uint* more, device uint* out,
                               uint index [[thread_index_in_threadgroup]],
                               uint group [[threadgroup_position_in_grid]]) {
  uint parts[16];
  for (uint k = 0; k < 8; ++k) parts[k] = in[index + 64 * k] * 3 + group;
  for (uint k = 0; k < 8; ++k) parts[8 + k] = more[40 * index + k];
  device uint* to = out + 1024 * group + 16 * index;
  for (uint k = 0; k < 16; ++k) to[k] = parts[k];
}

template <typename T, uint count>
struct Several {
  T members[count];
};

template <typename T, uint count>
Several<T, count> several(uint seed) {
  Several<T, count> result;
  for (uint j = 0; j < count; ++j) result.members[j] = T(seed * (2 * j + 3) + j);
  return result;
}

// As many as no power of two, of lanes that are in another order.
//@ buffer uint random N
//@ buffer uint random 1
//@ buffer uint zeros 3N+48
//@ buffer ushort zeros 5N+80
//@ buffer ulong zeros 6N+96
//@ buffer uchar zeros 15N+240
kernel void structs_anywhere(device const uint* in, device const uint* given, device Several<uint, 3>* three,
                             device Several<ushort, 5>* five, device Several<ulong, 6>* six,
                             device Several<uchar, 15>* fifteen, INDEX) {
  const uint i = I, to = i ^ (given[0] & 15);
  three[to] = several<uint, 3>(in[i]);
  five[to] = several<ushort, 5>(in[i]);
  six[to] = several<ulong, 6>(in[i]);
  fifteen[to] = several<uchar, 15>(in[i]);
}
