// Lanes that find what they access in one vector, in another order than theirs: backwards, in pairs, swapped; and lanes
// that a constant keeps too far apart for that.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))
#define N (grid.x * grid.y * grid.z)

//@ buffer uint random N
//@ buffer uint zeros N
kernel void pairs_and_fours(device const uint* in, device uint* out, INDEX) {
  out[I] = in[I / 2] + 3 * in[I / 4] + 5 * in[I / 8];
}

//@ buffer ushort random 2N
//@ buffer ushort zeros 2N
kernel void pairs_of_rows(device const ushort* in, device ushort* out, INDEX) {
  const uint row = grid.x / 2 + 1, y = at.y + grid.y * at.z;
  out[I] = in[min(y / 2 * row + at.x / 2, 2 * N - 1)];
}

//@ buffer uchar random N
//@ buffer uchar zeros N
kernel void backwards(device const uchar* in, device uchar* out, INDEX) {
  out[N - 1 - I] = in[I] ^ uchar(in[N - 1 - I] * 3);
}

//@ buffer float random N
//@ buffer float zeros N
//@ grid 64x64 group 16x16
//@ grid 37x19 group 16x4
//@ grid 40x16 group 8x8
//@ grid 64x8x4 group 4x4x4
kernel void rows_backwards(device const float* in, device float* out, INDEX) {
  const uint row = (at.y + grid.y * at.z) * grid.x;
  out[row + grid.x - 1 - at.x] = in[row + at.x] - in[row + grid.x - 1 - at.x];
}

//@ buffer ulong random N
//@ buffer ulong zeros N
kernel void swapped(device const ulong* in, device ulong* out, INDEX) {
  const uint last = N / 4 * 4;
  if (I < last) out[I ^ 1] = in[I ^ 3] + in[I ^ 2];
}

//@ buffer float random N
//@ buffer uint random N
//@ buffer float zeros N
kernel void some_backwards(device const float* in, device const uint* which, device float* out, INDEX) {
  if (which[I] % 3 != 0) out[N - 1 - I] = in[N - 1 - I] + in[I / 2];
}

//@ buffer float random N
//@ buffer float zeros N
//@ grid 256 group 256
//@ grid 64x64 group 16x16
//@ grid 32x32 group 32x8
kernel void columns_of_a_tile(device const float* in, device float* out, INDEX,
                              uint place [[thread_index_in_threadgroup]]) {
  threadgroup float tile[256 * 17];
  tile[place * 17] = in[I];
  tile[place * 17 + 5] = in[I] * 2;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[I] = tile[(place % 16 * 16 + place / 16) * 17] + tile[(255 - place) * 17 + 5];
}

// Which row of a table is read decides what is read together.
//@ buffer float random 40960
//@ buffer uint below:400 N
//@ buffer float zeros N
//@ bytes uint 100
kernel void rows_of_a_table(device const float* table, device const uint* rows, device float* out, constant uint& n,
                            INDEX) {
  out[I] = table[rows[I / n] * n + I % n];
}
