// Indices whose lanes keep their distance in most groups and not in all: clamped, divided, or both; and lanes that lie in
// rows with gaps, as those of 16 x 16 threads do.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))
#define N (grid.x * grid.y * grid.z)

//@ buffer uint random N
//@ buffer uint zeros 4N
kernel void clamped(device const uint* in, device uint* out, INDEX) {
  const int i = int(I), last = int(N) - 1;
  out[4 * I] = in[clamp(i - 3, 0, last)];
  out[4 * I + 1] = in[clamp(i + 5, 0, last)];
  out[4 * I + 2] = in[min(I + 40, N - 1)];
  out[4 * I + 3] = in[max(i - 70, 0)] + in[min(i, 2)];
}

// Negative numbers are large ones, and sums wrap around on the way to the limit.
//@ buffer uint random N
//@ buffer uint zeros 4N
kernel void clamped_unsigned(device const uint* in, device uint* out, INDEX) {
  out[4 * I] = in[min(I - 9u, N - 1)];
  out[4 * I + 1] = in[min(I + 0xFFFFFFF0u, N - 1)];
  out[4 * I + 2] = in[max(I + 0xFFFFFF00u, 0xFFFFFFF8u) & 0u];
  out[4 * I + 3] = in[clamp(ushort(I * 1000), ushort(0), ushort(min(N, 50u) - 1))];
}

//@ buffer uchar random 4N
//@ buffer uchar zeros 4N
kernel void clamped_pixels(device const uchar4* in, device uchar4* out, INDEX) {
  const int2 size = int2(grid.xy), p = int2(at.xy);
  const uint layer = at.z * grid.x * grid.y;
  uint4 sum = 0;
  for (int y = -1; y <= 1; ++y)
    for (int x = -1; x <= 1; ++x) {
      const int2 q = clamp(p + int2(x, y), 0, size - 1);
      sum += uint4(in[layer + q.y * size.x + q.x]) * uint(x + 2 * y + 4);
    }
  out[I] = uchar4(sum);
}

//@ buffer uint random N
//@ buffer uint zeros N
kernel void periodic(device const uint* in, device uint* out, INDEX) {
  uint sum = 0;
  for (uint y = 0; y < 3; ++y)
    for (uint x = 0; x < 3; ++x)
      sum = sum * 5 + in[at.z * grid.x * grid.y + (at.y + y + grid.y - 1) % grid.y * grid.x +
                         (at.x + x + grid.x - 1) % grid.x];
  out[I] = sum;
}

//@ buffer uint random 1024
//@ buffer uint zeros 4N
//@ bytes uint 1
kernel void divided_by_one(device const uint* in, device uint* out, constant uint& n, INDEX) {
  out[4 * I] = in[I % n];
  out[4 * I + 1] = in[min(I / n, 1023u)];
  out[4 * I + 2] = in[(int(I) - 50) % int(n) + 50];
  out[4 * I + 3] = in[clamp((int(I) - 50) / int(n), -20, 900) + 20];
}

//@ buffer uint random 1024
//@ buffer uint zeros 4N
//@ bytes uint 7
kernel void divided_by_few(device const uint* in, device uint* out, constant uint& n, INDEX) {
  out[4 * I] = in[I % n];
  out[4 * I + 1] = in[min(I / n, 1023u)];
  out[4 * I + 2] = in[(int(I) - 50) % int(n) + 50];
  out[4 * I + 3] = in[clamp((int(I) - 50) / int(n), -20, 900) + 20];
}

//@ buffer uint random 1024
//@ buffer uint zeros 4N
//@ bytes uint 100
kernel void divided_by_many(device const uint* in, device uint* out, constant uint& n, INDEX) {
  out[4 * I] = in[I % n];
  out[4 * I + 1] = in[min(I / n, 1023u)];
  out[4 * I + 2] = in[(int(I) - 250) % int(n) + 500];
  out[4 * I + 3] = in[clamp((int(I) - 250) / int(n), -20, 900) + 20];
}

// Sums that wrap around have quotients that do not follow.
//@ buffer uint random 1024
//@ buffer uint zeros 4N
//@ bytes uint 96
kernel void divided_where_it_wraps(device const uint* in, device uint* out, constant uint& n, INDEX) {
  const uint i = I + 0xFFFFFFE4u;
  out[4 * I] = in[i % n];
  out[4 * I + 1] = in[(i / n) & 1023];
  out[4 * I + 2] = in[(int(I + 0x7FFFFFF3u) % int(n)) + 200];
  out[4 * I + 3] = in[(uint(int(I + 0x7FFFFFF3u) / int(n)) + I % 640) & 1023];
}

//@ buffer uint random 1024
//@ buffer uint zeros 2N
//@ bytes int -90
kernel void divided_by_negative_numbers(device const uint* in, device uint* out, constant int& n, INDEX) {
  out[2 * I] = in[int(I) % n + 300];
  out[2 * I + 1] = in[clamp(int(I) / n, -300, 300) + 300];
}

//@ buffer float random N
//@ buffer float random N
//@ buffer float zeros N
//@ bytes uint 300
kernel void rows_of_a_matrix(device const float* in, device const float* scales, device float* out, constant uint& n,
                             INDEX) {
  const uint column = I % n, row = I / n;
  out[I] = in[min(row * n + column, N - 1)] * scales[row];
}

// Not all lanes get there, and those that do are divided.
//@ buffer uint random 1024
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 100
kernel void divided_by_some(device const uint* in, device const uint* which, device uint* out, constant uint& n,
                            INDEX) {
  if (which[I] & 1) out[I] = in[I % n] + in[min(I / n, 1023u)];
}

//@ buffer uint random 256
//@ buffer uint zeros N
//@ bytes uint 0
kernel void divided_by_nothing(device const uint* in, device uint* out, constant uint& n, INDEX) {
  if (n != 0) out[I] = in[I % n] + in[I / n];
}

// Each thread has four numbers, and those of a row of threads are a row.
//@ buffer float random 4N
//@ buffer float random 4N
//@ buffer float zeros 4N
//@ grid 64x64 group 16x16
//@ grid 37x19 group 16x4
//@ grid 40x16 group 8x8
//@ grid 64x8x4 group 4x4x4
//@ grid 100 group 32
kernel void fours_in_rows(device const float* a, device const float* b, device float* out, INDEX) {
  const uint pitch = 4 * grid.x, row = at.y + grid.y * at.z;
  float sums[4] = {};
  for (uint k = 0; k < 3; ++k)
    for (uint i = 0; i < 4; ++i) sums[i] += a[4 * at.x + i] * b[row * pitch + 4 * at.x + (i + k) % 4];
  for (uint i = 0; i < 4; ++i) out[row * pitch + 4 * at.x + i] = sums[i];
}

//@ buffer half random 3N
//@ buffer half zeros 3N
//@ grid 64x64 group 16x16
//@ grid 37x19 group 16x4
//@ grid 40x16 group 8x8
kernel void threes_in_rows(device const half* a, device half* out, INDEX) {
  const uint first = 3 * (at.y * grid.x + at.x);
  if (at.x % 5 != 4)
    for (uint i = 0; i < 3; ++i) out[first + i] = a[3 * at.x + i] + a[first + 2 - i];
}

// Strides that are known when the kernel runs: neighbours, all in one place, backward, and apart.
#define STRIDED_ARGUMENTS                                                                                            \
  device const uint *in, device const ushort *halves, device uint *out, device ushort *small, constant int &stride, INDEX

static void copy_strided(device const uint* in, device const ushort* halves, device uint* out, device ushort* small,
                         int stride, uint i, uint size) {
  const int from = int(i) * stride + (stride < 0 ? int(size) : 0);
  uint sum = in[from] + halves[from];
  for (uint k = 0; k < 3; ++k)
    if ((in[i] >> k) & 1) sum = sum * 5 + in[from + int(k)] + halves[uint(from)];
  out[stride == 0 ? int(i) : from] = sum;
  if (sum & 2 && stride != 0) small[from] = ushort(sum);
}

//@ buffer uint random 4N
//@ buffer ushort random 4N
//@ buffer uint zeros 4N
//@ buffer ushort zeros 4N
//@ bytes int 1
kernel void stride_of_1(STRIDED_ARGUMENTS) {
  copy_strided(in, halves, out, small, stride, I, N);
}

//@ buffer uint random 4N
//@ buffer ushort random 4N
//@ buffer uint zeros 4N
//@ buffer ushort zeros 4N
//@ bytes int 0
kernel void stride_of_0(STRIDED_ARGUMENTS) {
  copy_strided(in, halves, out, small, stride, I, N);
}

//@ buffer uint random 4N
//@ buffer ushort random 4N
//@ buffer uint zeros 4N
//@ buffer ushort zeros 4N
//@ bytes int -1
kernel void stride_of_minus_1(STRIDED_ARGUMENTS) {
  copy_strided(in, halves, out, small, stride, I, N);
}

//@ buffer uint random 4N
//@ buffer ushort random 4N
//@ buffer uint zeros 4N
//@ buffer ushort zeros 4N
//@ bytes int 3
kernel void stride_of_3(STRIDED_ARGUMENTS) {
  copy_strided(in, halves, out, small, stride, I, N);
}

// A factor of 64 bits whose lower half is 1.
//@ buffer uint random 4N
//@ buffer uint zeros 4N
//@ bytes ulong 4294967297
kernel void stride_of_64_bits(device const uint* in, device uint* out, constant ulong& stride, INDEX) {
  out[I] = in[I * stride % (4 * N)] + in[uint(I * stride)] + in[ulong(I) * (stride & 7)];
}
