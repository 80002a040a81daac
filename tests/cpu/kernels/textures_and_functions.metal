// Textures, function tables and pointers, messages.
#include <metal_stdlib>
#include <metal_logging>
using namespace metal;

//@ texture rgba8unorm random 37x19
//@ texture rgba8unorm zeros 37x19
//@ grid 40x20 group 16x16
//@ grid 37x19 group 17x3
kernel void texels(texture2d<half, access::read> in, texture2d<float, access::write> out,
                   uint2 at [[thread_position_in_grid]]) {
  if (at.x >= out.get_width() || at.y >= out.get_height()) return;
  const half4 c = in.read(at), d = in.read(uint2(out.get_width() - 1 - at.x, at.y));
  if (c.x > 0.25h) out.write(float4(float3(c.bgr), float(d.a)), at);
}

//@ texture rgba32float random 13x7
//@ texture r32float random 8x8
//@ sampler linear repeat
//@ buffer float random 2N
//@ buffer float zeros 4N
//@ tolerance 1e-4
kernel void samples(texture2d<float> in, texture2d<float> other, sampler bound, device const float2* where,
                    device float4* out, uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  constexpr sampler fixed(coord::normalized, address::clamp_to_edge, filter::nearest);
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  float4 sum = in.sample(bound, where[i]);
  if (i & 1) sum += other.sample(fixed, where[i].yx);
  out[i] = sum;
}

//@ texture rgba16float random 21x13
//@ texture rgba8unorm_srgb random 16x16
//@ buffer uint random N
//@ buffer float random 2N
//@ buffer float zeros 4N
//@ tolerance 1e-4
kernel void samples_of_some_lanes(texture2d<float> in, texture2d<float> other, device const uint* counts,
                                  device const float2* where, device float4* out, uint3 at [[thread_position_in_grid]],
                                  uint3 grid [[threads_per_grid]]) {
  constexpr sampler bordered(coord::pixel, address::clamp_to_zero, filter::linear);
  constexpr sampler mirrored(address::mirrored_repeat, filter::linear);
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  float4 sum = 0;
  for (uint step = counts[i] % 5; step > 0; --step)
    sum += step & 1 ? in.sample(bordered, where[i] * step * 8) : other.sample(mirrored, where[i] / step);
  const texture2d<float> either = counts[i] & 1 ? in : other;
  if (counts[i] % 3 != 0) sum += either.read(uint2(i % 11, i % 7)) + either.sample(mirrored, where[i]);
  out[i] = sum;
}

//@ texture r32uint random 64x1
//@ texture r32uint zeros 64x1
//@ grid 64 group 32
//@ grid 64 group 20
kernel void integer_texels(texture2d<uint, access::read> in, texture2d<uint, access::read_write> out,
                           uint i [[thread_position_in_grid]]) {
  out.write(uint4(in.read(uint2(i, 0)).x * 3 + out.read(uint2(i, 0)).x), uint2(i, 0));
}

[[visible]] uint twice(uint x) {
  return 2 * x;
}
[[visible]] uint negated(uint x) {
  return x & 1 ? -x : ~x;
}
[[visible]] uint counted(uint x) {
  uint n = 0;
  while (x > 7) {
    x /= 3;
    ++n;
  }
  return n;
}

//@ functions twice,negated,counted
//@ buffer uint random N
//@ buffer uint zeros N
kernel void visible_functions(visible_function_table<uint(uint)> table, device const uint* in, device uint* out,
                              uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint x = table[0](in[i]);
  x += table[i % 3](x);
  if (x & 1) x = table[2](x) + table[(x >> 1) % 3](i);
  out[i] = x;
}

static uint shifted(uint x, uint y) {
  return x << (y & 7);
}
static uint summed(uint x, uint y) {
  return x + y;
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void pointers_to_functions(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                  uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  uint (*function)(uint, uint) = in[i] & 1 ? shifted : summed;
  out[i] = function(in[i], i);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 70 group 64
//@ grid 9x3 group 4x2
kernel void messages(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                     uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  if (in[i] & 1) os_log_default.log("thread %u has %u and %f", i, in[i], float(i) / 4);
  out[i] = i;
}
