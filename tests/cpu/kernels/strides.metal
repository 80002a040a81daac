// Lanes that are as far apart as an argument says: near each other, or in rows of their own.
#include <metal_stdlib>
using namespace metal;

template <typename Stride>
float window_sum(device const float* in, constant Stride& stride, constant int& width, constant int& size, uint2 at) {
  float sum = 0;
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b) sum += in[(int(at.y) * int(stride) + a) * width + int(at.x) * int(stride) + b];
  return sum;
}

//@ buffer float random 8N
//@ buffer float zeros N
//@ bytes int 1
//@ bytes int 50
//@ bytes int 3
//@ grid 40x24 group 16x16
//@ grid 40x24 group 8x8
//@ grid 64x10 group 32x4
kernel void windows_side_by_side(device const float* in, device float* out, constant int& stride, constant int& width,
                                 constant int& size, uint2 at [[thread_position_in_grid]],
                                 uint2 grid [[threads_per_grid]]) {
  out[at.y * grid.x + at.x] = window_sum(in, stride, width, size, at);
}

//@ buffer float random 8N
//@ buffer float zeros N
//@ bytes uchar 2
//@ bytes int 100
//@ bytes int 3
//@ grid 40x24 group 16x16
//@ grid 41x23 group 8x4
//@ grid 100x9 group 33x3
kernel void windows_two_apart(device const float* in, device float* out, constant uchar& stride, constant int& width,
                              constant int& size, uint2 at [[thread_position_in_grid]],
                              uint2 grid [[threads_per_grid]]) {
  out[at.y * grid.x + at.x] = window_sum(in, stride, width, size, at);
}

//@ buffer float random 200N
//@ buffer float zeros N
//@ bytes ulong 11
//@ bytes int 450
//@ bytes int 4
//@ grid 40x24 group 16x16
//@ grid 33x9 group 32x2
kernel void windows_far_apart(device const float* in, device float* out, constant ulong& stride, constant int& width,
                              constant int& size, uint2 at [[thread_position_in_grid]],
                              uint2 grid [[threads_per_grid]]) {
  out[at.y * grid.x + at.x] = window_sum(in, stride, width, size, at);
}

//@ buffer float random 2N+10
//@ buffer float zeros N
//@ bytes short -2
//@ bytes int 0
//@ bytes int 5
//@ grid 100 group 32
//@ grid 77 group 16
kernel void backwards_by_a_stride(device const float* in, device float* out, constant short& stride,
                                  constant int& width, constant int& size, uint at [[thread_position_in_grid]],
                                  uint grid [[threads_per_grid]]) {
  float sum = 0;
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < size; ++b) sum += in[int(2 * grid) + a * width + int(at) * stride + b];
  out[at] = sum;
}

//@ buffer float random 3N
//@ buffer float zeros 100N
//@ bytes uint 3
//@ bytes uint 100
//@ grid 100 group 32
//@ grid 64 group 64
kernel void rows_of_two_lengths(device const float* in, device float* out, constant uint& near, constant uint& far,
                                uint at [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint k = 0; k < near; ++k) sum += in[at * near + k];
  for (uint k = 0; k < far; ++k) out[at * far + k] = sum * k;
}

//@ buffer float random 4N
//@ buffer float zeros N
//@ bytes int 1
//@ bytes int 40
//@ bytes int 30
//@ bytes int 3
//@ grid 40x30 group 16x16
//@ grid 40x30 group 8x8
//@ grid 40x30 group 40x2
kernel void convolution_with_borders(device const float* in, device float* out, constant int& stride,
                                     constant int& width, constant int& height, constant int& size,
                                     uint2 at [[thread_position_in_grid]]) {
  if (int(at.x) >= width || int(at.y) >= height) return;
  float sum = 0;
  for (int a = 0; a < size; ++a)
    for (int b = 0; b < size; ++b) {
      const int y = int(at.y) * stride + a - 1, x = int(at.x) * stride + b - 1;
      if (y >= 0 && y < height && x >= 0 && x < width) sum += in[y * width + x] * (a + 2 * b);
    }
  out[int(at.y) * width + int(at.x)] = sum;
}

// Rows as long as the threadgroup's: `y * 16 + x` is the lane and what it counts from, some bits taken away.
//@ buffer float random N
//@ buffer float zeros N
//@ grid 32x32 group 16x16
kernel void flat_tile_of_16(device const float* in, device float* out, uint2 at [[thread_position_in_grid]],
                            uint2 here [[thread_position_in_threadgroup]], uint2 grid [[threads_per_grid]]) {
  threadgroup float tile[256];
  tile[here.y * 16 + here.x] = in[at.y * grid.x + at.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sum = 0;
  for (uint k = 0; k < 16; ++k) sum += tile[here.y * 16 + k] * tile[k * 16 + here.x];
  out[at.y * grid.x + at.x] = sum;
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 16x40 group 16x8
//@ grid 16x37 group 16x8
kernel void image_of_16_columns(device const uint* in, device uint* out, uint2 at [[thread_position_in_grid]]) {
  out[at.y * 16 + at.x] = in[at.y * 16 + (15 - at.x)] + at.y * 16;
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 8x40 group 8x8
//@ grid 8x33 group 8x4
kernel void image_of_8_columns(device const uint* in, device uint* out, uint2 at [[thread_position_in_grid]]) {
  const uint place = at.y * 8 + at.x;
  out[place] = in[place & ~7u] + in[place ^ 4u] + in[(place & ~3u) | (at.x & 1)];
}
