// Loops and branches that compare what counts in step with a limit: groups go round, and past, together for as long as
// all their lanes do.
#include <metal_stdlib>
using namespace metal;

//@ buffer uint random N
//@ buffer uint zeros N
kernel void strided_loops(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                          uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint sum = 0, last = 7;
  for (uint j = local; j < all; j += 32) {
    sum += in[j] * (j + 1);
    last = j;
  }
  for (int j = int(local); j <= int(all) - 3; j += 64) sum ^= in[j] + uint(j);
  for (uint j = local; j != local + 96; j += 32) sum = sum * 3 + j;
  out[i] = sum + last;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void limits_of_the_group(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint x = in[i];
  for (uint limit = 0; limit < 80; limit += 13) {
    const uint bound = limit % all;
    if (local < bound) x = x * 5 + in[bound];
    if (local >= limit) x ^= local;
    if (int(local) - 20 > int(limit)) x += 3;
    if (limit > local) x -= in[local % all];
  }
  out[i] = x;
}

// Lanes that wrap around: some of a group are below the limit, and lane 0 is not.
//@ buffer uint random N
//@ buffer uint zeros N
kernel void counts_that_wrap(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                             uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint x = in[i];
  for (uint start = 0; start < 40; start += 9) {
    for (uint j = local - start; j < min(all, 50u); j += 8) x = x * 3 + in[j];
    if (local - start < all) x += in[local - start];
    if (local - start >= 4000000000u) x ^= start;
    if (int(local + 2147483640u) < 5) x += start;
  }
  out[i] = x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void loops_in_loops(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                           uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint x = 1, kept[4] = {1, 2, 3, 4};
  for (uint j = local; j < all; j += 48) {
    for (uint k = j; k < all; k += 37) {
      if (k + 5 < all) x += in[k + 5];
      kept[k % 4] += x;
    }
    uint n = in[j] % 6;
    while (n-- > 0) x ^= x << 5 ^ kept[n % 4];
  }
  out[i] = x + kept[i % 4];
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void loops_of_some_lanes(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint x = in[i], carried = 0;
  if (x % 3 != 0)
    for (uint j = local; j < all; j += 32) x += in[j];
  if (local < all / 2) {
    const uint offset = x % 5;
    for (uint j = local; j < all; j += 32) carried += in[j] * offset;
    x ^= carried;
  }
  uint j = local;
  do x = x * 9 + j;
  while ((j += 32) < all);
  for (uint k = local; k < all; k += 32) {
    if (in[k] % 31 == 0) break;
    x += k * j;
  }
  out[i] = x;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void sums_of_those_still_there(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                      uint3 grid [[threads_per_grid]], uint local [[thread_index_in_threadgroup]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z), all = grid.x * grid.y * grid.z;
  uint x = in[i];
  for (uint j = local; j < all; j += 32) x += simd_sum(j) + simd_prefix_inclusive_sum(in[j]);
  if (local < 40) x ^= simd_max(x);
  out[i] = x;
}
