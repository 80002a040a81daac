// Floating point of all widths, and math functions.
#include <metal_stdlib>
using namespace metal;

#define INDEX uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))

//@ buffer float random N
//@ buffer float zeros 10N
//@ tolerance 1e-4
kernel void math_functions(device const float* in, device float* out, INDEX) {
  const float x = in[I];
  device float* o = out + 10 * I;
  o[0] = exp(x), o[1] = log(abs(x) + 0.1f), o[2] = sin(x * 3), o[3] = cos(x * 5), o[4] = tanh(x);
  o[5] = rsqrt(abs(x) + 0.2f), o[6] = pow(abs(x) + 0.3f, x), o[7] = atan2(x, 0.7f), o[8] = exp2(x) + log2(abs(x) + 1);
  o[9] = x / (1 + exp(-x)) + sqrt(abs(x)) + fmod(x, 0.7f);
}

//@ buffer float special N
//@ buffer float zeros 8N
//@ tolerance 1e-4
kernel void precise_functions_of_special_values(device const float* in, device float* out, INDEX) {
  const float x = in[I];
  device float* o = out + 8 * I;
  o[0] = precise::exp(x), o[1] = precise::log(x), o[2] = precise::sqrt(x), o[3] = precise::tanh(x);
  o[4] = precise::floor(x), o[5] = precise::fmin(x, 1.0f), o[6] = precise::rint(x), o[7] = precise::atan(x);
}

//@ buffer float special N
//@ buffer int zeros 4N
kernel void classes_and_conversions(device const float* in, device int* out, INDEX) {
  const float x = in[I];
  out[4 * I] = as_type<int>(x);
  out[4 * I + 1] = int(clamp(as_type<uint>(x) & 0x7FFFFFFF ? x : 0.0f, -1e9f, 1e9f) > 0);
  out[4 * I + 2] = (as_type<uint>(x) >> 23 & 255) == 255 ? 1 : 0;
  out[4 * I + 3] = as_type<int>(x) < 0 ? -1 : as_type<ushort2>(x).y;
}

//@ buffer float random N
//@ buffer int zeros 4N
kernel void whole_numbers_from_floats(device const float* in, device int* out, INDEX) {
  const float x = in[I] * 100;
  out[4 * I] = int(x);
  out[4 * I + 1] = int(floor(x)) + int(ceil(x)) * 3 + int(trunc(x)) * 7 + int(rint(x)) * 11;
  out[4 * I + 2] = int(uint(abs(x))) + int(uchar(abs(x) / 2)) + int(long(x) * 3) + int(short(x));
  out[4 * I + 3] = x > 10 ? 1 : x < -10 ? 2 : x == 0 ? 3 : 4;
}

//@ buffer half random N
//@ buffer half zeros 6N
kernel void half_arithmetic(device const half* in, device half* out, INDEX) {
  const half x = in[I];
  device half* o = out + 6 * I;
  o[0] = x * x + 1.0h, o[1] = x / 3.0h, o[2] = exp(x), o[3] = max(x, 0.5h) - min(x, -0.5h);
  half sum = 0;
  for (ushort k = 0; k < (I & 7); ++k) sum += x * half(k) * 0.25h;
  o[4] = sum;
  o[5] = half(float(x) * 1.5f) + half(int(x * 4));
}

//@ buffer bfloat random N
//@ buffer bfloat zeros 5N
kernel void bfloat_arithmetic(device const bfloat* in, device bfloat* out, INDEX) {
  const bfloat x = in[I];
  device bfloat* o = out + 5 * I;
  o[0] = x * x, o[1] = x + bfloat(1), o[2] = bfloat(float(x) / 3), o[3] = x > bfloat(0) ? x : -x;
  bfloat sum = 0;
  if (I & 1)
    for (ushort k = 0; k < 4; ++k) sum = sum + x;
  o[4] = sum;
}

//@ buffer float special N
//@ buffer half zeros N
//@ buffer bfloat zeros N
//@ tolerance 0
kernel void rounding_to_half_and_bfloat(device const float* in, device half* h, device bfloat* b, INDEX) {
  h[I] = half(in[I]);
  b[I] = bfloat(in[I]);
}

//@ buffer float random 4N
//@ buffer float zeros 4N
kernel void geometric_functions(device const float4* in, device float4* out, INDEX) {
  const float4 v = in[I];
  const float3 n = normalize(v.xyz + float3(3));
  out[I] = float4(cross(n, v.zyx), dot(v, v)) + length(v) * mix(v, v.wzyx, 0.25f) + select(v, -v, v > 0.5f) +
           smoothstep(-1.0f, 1.0f, v) + float4(any(v > 1), all(v < 1), sign(v.x), step(0.0f, v.y));
}

//@ buffer float random N
//@ buffer float zeros N
kernel void mandelbrot(device const float* in, device float* out, INDEX) {
  const float2 c = float2(float(at.x) * 0.0625f - 2, float(at.y) * 0.125f - 1);
  float2 z = 0;
  uint n = 0;
  while (n < 20 && dot(z, z) < 4) {
    z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
    ++n;
  }
  out[I] = in[I] + (n == 20 ? 1 : 0);
}

//@ buffer uint random N+1
//@ buffer uint zeros N
kernel void products_that_overflow(device const uint* in, device uint* out, INDEX) {
  const uint x = in[I] | 1, y = in[I + 1];
  out[I] = 0xffffffffu / x < y ? 1 : x * y;
}

// In float, these sums would be rounded to halfway between two halves first, and then to the wrong one.
//@ buffer uint zeros N
kernel void fma_of_half_rounds_once(device uint* out, INDEX) {
  const half a = 1.0h + half(I & 1023u) * 0.0009765625h, c = 5.9604645e-08h;
  out[I] = as_type<ushort>(fma(a, 1.03125h, c));
}

// As on a GPU, the result is some number; it is the same one wherever the divisor comes from.
//@ buffer int random N
//@ buffer int zeros 8N
//@ bytes int 0
kernel void divisions_by_zero(device const int* in, device int* out, constant int& none, INDEX) {
  const int zero = 0;
  const int x = in[I];
  device int* o = out + 8 * I;
  o[0] = x / zero, o[1] = x / none;
  o[2] = int(uint(x) % (I - I)), o[3] = int(uint(x) % uint(none));
  o[4] = x > 2 ? x / zero : 3, o[5] = x % zero > 3 ? 1 : 2;
  o[6] = 7 / zero, o[7] = 5;
  if ((1 << (33 + zero)) % zero > 3) o[7] = x << 37;
}
