// Small tables of constants, of which every lane wants another number.
#include <metal_stdlib>
using namespace metal;

#define INDEX uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

constant float thirty_two[32] = {1, -2, 3.5f, 1e9f, 5, 6, 7, 8, 9, 10, 11, -12, 13, 14, 15, 16,
                                 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, -1e-9f};
constant float sixteen[16] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};
constant int five[5] = {-7, 1 << 30, 3, -1, 99};
constant half eleven[11] = {1, 2, 3, 4.5h, -5, 6, 7, 65504.0h, 9, 10, 11};
constant char signed_bytes[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
constant uchar bytes[32] = {200, 1, 2, 3, 4, 5, 6, 7, 255, 9, 10, 11, 12, 13, 14, 15,
                            16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 131};
constant ushort thirty_three[33] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                    18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 333};
struct Entry {
  short first;
  float second;
};
constant Entry entries[7] = {{1, 2}, {-3, 4}, {5, 6}, {7, 8.5f}, {9, 10}, {11, 12}, {13, -14}};

//@ buffer uint random N
//@ buffer float zeros 3N
kernel void tables_of_floats(device const uint* in, device float* out, INDEX) {
  const uint x = in[I];
  out[3 * I] = thirty_two[x & 31];
  out[3 * I + 1] = sixteen[x >> 28] + sixteen[uchar(x) >> 4];
  out[3 * I + 2] = thirty_two[ulong(x) % 32] * entries[x % 7].second;
}

//@ buffer uint random N
//@ buffer int zeros 4N
kernel void tables_of_integers(device const uint* in, device int* out, INDEX) {
  const uint x = in[I];
  out[4 * I] = five[x % 5];
  out[4 * I + 1] = signed_bytes[x & 15] * bytes[(x >> 8) & 31];
  out[4 * I + 2] = thirty_three[x % 33] + entries[x % 7].first;
  out[4 * I + 3] = int(eleven[x % 11]);
}

// The index is further on, or further back, than the number that differs.
//@ buffer uint random N
//@ buffer int zeros 3N
kernel void tables_from_elsewhere(device const uint* in, device int* out, INDEX) {
  const int x = int(in[I] & 7);
  out[3 * I] = bytes[x + 23] - bytes[x * 3 + 4];
  constant uchar* behind = bytes + 20;
  out[3 * I + 1] = behind[x - 9] + signed_bytes[15 - x];
  out[3 * I + 2] = five[x > 4 ? x - 4 : x];
}

// Lanes that are not there have no index.
//@ buffer uint random N
//@ buffer float zeros N
kernel void tables_in_branches(device const uint* in, device float* out, INDEX) {
  const uint x = in[I];
  float sum = 0;
  if (x & 1)
    for (uint i = x; i > 0; i >>= 5) sum += thirty_two[i & 31];
  else if (x & 2)
    sum = five[x % 5];
  out[I] = sum;
}

// A table that threads could write to is none.
//@ buffer uint random N
//@ buffer float random 32
//@ buffer float zeros 2N
kernel void tables_of_their_own(device const uint* in, device const float* given, device float* out, INDEX) {
  const float fixed[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  float mine[8];
  for (uint i = 0; i < 8; ++i) mine[i] = fixed[i] + given[i];
  out[2 * I] = fixed[in[I] & 7];
  out[2 * I + 1] = mine[in[I] & 7] + given[in[I] & 31];
}
