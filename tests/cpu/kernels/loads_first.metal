// Loads and stores of a lane in turn, from and to buffers that may overlap: lanes have 16 words each to themselves.
#include <metal_stdlib>
using namespace metal;

template <class From, class To>
void in_turn(device const From* in, device To* out) {
  for (int j = 0; j < 4; ++j) out[j] = To(in[j] * 3 + 1);
}

//@ buffer uint random 16N
//@ bytes int 0
//@ grid 200 group 64
kernel void in_place(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i) + 3, values + distance + 16 * long(i) + 3);
}

//@ buffer uint random 16N
//@ bytes int 1
//@ grid 200 group 64
kernel void one_behind(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i) + 3, values + distance + 16 * long(i) + 3);
}

//@ buffer uint random 16N
//@ bytes int 3
//@ grid 200 group 64
kernel void three_behind(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i) + 3, values + distance + 16 * long(i) + 3);
}

//@ buffer uint random 16N
//@ bytes int 4
//@ grid 200 group 64
kernel void four_behind(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i) + 3, values + distance + 16 * long(i) + 3);
}

//@ buffer uint random 16N
//@ bytes int -2
//@ grid 200 group 64
kernel void two_before(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i) + 3, values + distance + 16 * long(i) + 3);
}

// Of other sizes: lanes have other distances, some of which are too short.
//@ buffer uint random 16N
//@ bytes int 3
//@ grid 200 group 64
kernel void halves_behind(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i), (device ushort*)values + distance + 32 * long(i));
}

//@ buffer uint random 16N
//@ bytes int 12
//@ grid 200 group 64
kernel void halves_apart(device uint* values, constant int& distance, uint i [[thread_position_in_grid]]) {
  in_turn(values + 16 * long(i), (device ushort*)values + distance + 32 * long(i));
}

// What is left of the last threads, and of threads beyond.
//@ buffer half random 4N
//@ buffer half zeros 4N
//@ bytes uint 601
//@ grid 151 group 64
//@ grid 200 group 96
//@ grid 512 group 512
kernel void four_at_a_time(device const half* in, device half* out, constant uint& count,
                           uint i [[thread_position_in_grid]]) {
  i *= 4;
  if (i + 4 > count) {
    for (uint j = 0; i + j < count; ++j) out[i + j] = in[i + j] + 1;
  } else {
    for (uint j = 0; j < 4; ++j) out[i + j] = in[i + j] * 2;
  }
}

// A limit that every threadgroup has lanes on both sides of, before a barrier.
//@ buffer float random N
//@ buffer float zeros N
//@ bytes uint 41
//@ grid 384 group 128
kernel void limits_of_threadgroups(device const float* in, device float* out, constant uint& limit,
                                   uint i [[thread_position_in_grid]], uint local [[thread_position_in_threadgroup]]) {
  threadgroup float shared[128];
  if (local < limit)
    shared[local] = in[i] * 2;
  else
    shared[local] = simd_sum(in[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = shared[127 - local];
}

// From a buffer to threadgroup memory, several numbers of each byte.
//@ buffer uchar random 8N
//@ buffer float random N
//@ buffer float zeros 16N
//@ grid 256 group 64
//@ grid 64 group 32
kernel void unpacked(device const uchar* in, device const float* scales, device float* out,
                     uint group [[threadgroup_position_in_grid]], uint size [[threads_per_threadgroup]],
                     ushort index [[thread_index_in_threadgroup]]) {
  threadgroup float shared[64 * 20];
  const long first = group * size;
  device const uchar* from = in + (first + index) * 8;
  threadgroup float* to = shared + index / 2 * 36 + index % 2 * 16;
  const float scale = scales[first + index];
  for (int j = 0; j < 8; ++j) {
    to[2 * j] = scale * (from[j] & 15);
    to[2 * j + 1] = scale * (from[j] >> 4);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint j = 0; j < 16; ++j) {
    const uint place = (j * size + index) / 16;
    out[first * 16 + j * size + index] = shared[place / 2 * 36 + place % 2 * 16 + (j * size + index) % 16];
  }
}
