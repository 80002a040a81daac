// What work on memory cannot be faster than: copying it, reading it, and, where each number has an exponential, those alone.
#include <metal_stdlib>
using namespace metal;

// Past the caches, where the device has them. A SIMD-group has 4096 numbers.
kernel void copy_streaming(device const float* in, device float* out, uint group [[threadgroup_position_in_grid]],
                           uint lane [[thread_index_in_threadgroup]]) {
  in += ulong(group) * 4096 + lane;
  out += ulong(group) * 4096 + lane;
  for (uint i = 0; i < 4096; i += 32) __builtin_nontemporal_store(in[i], out + i);
}

kernel void read(device const float* in, device float* out, uint group [[threadgroup_position_in_grid]],
                 uint lane [[thread_index_in_threadgroup]]) {
  in += ulong(group) * 4096 + lane;
  float sums[4] = {};
  for (uint i = 0; i < 4096; i += 128)
    for (uint k = 0; k < 4; ++k) sums[k] += in[i + 32 * k];
  out[group * 32 + lane] = (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// As many exponentials, and quotients of them, of numbers that are in the nearest cache: 64 rounds over 4096.
template <bool divides>
void exponentials(device const float* in, device float* out, uint group, uint lane) {
  in += lane;
  float sum = 0;
  for (uint round = 0; round < 64; ++round) {
    const float shift = round;
    for (uint i = 0; i < 4096; i += 32) {
      const float power = exp(in[i] - shift);
      sum += divides ? 1 / (1 + power) : power;
    }
  }
  out[group * 32 + lane] = sum;
}
kernel void powers(device const float* in, device float* out, uint group [[threadgroup_position_in_grid]],
                   uint lane [[thread_index_in_threadgroup]]) {
  exponentials<false>(in, out, group, lane);
}
kernel void quotients(device const float* in, device float* out, uint group [[threadgroup_position_in_grid]],
                      uint lane [[thread_index_in_threadgroup]]) {
  exponentials<true>(in, out, group, lane);
}
