// A 7 by 7 convolution of an image, zero outside: straight from memory, and through tiles of 16 by 16 with their
// margins in threadgroup memory.
#include <metal_stdlib>
using namespace metal;

constant constexpr int radius = 3, filter_width = 2 * radius + 1, tile = 16, padded = tile + 2 * radius;

kernel void convolution_naive(device const float* image, constant float* filter, device float* out, constant int& width,
                              constant int& height, uint2 position [[thread_position_in_grid]]) {
  const int2 at = int2(position);
  if (at.x >= width || at.y >= height) return;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
      const int y = at.y + dy, x = at.x + dx;
      if (x >= 0 && x < width && y >= 0 && y < height)
        sum += image[y * width + x] * filter[(dy + radius) * filter_width + dx + radius];
    }
  out[at.y * width + at.x] = sum;
}

kernel void convolution_tiled(device const float* image, constant float* filter, device float* out, constant int& width,
                              constant int& height, uint2 group [[threadgroup_position_in_grid]],
                              uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float shared[padded][padded];
  const int2 corner = int2(group) * tile - radius;
  for (int j = local.y; j < padded; j += tile)
    for (int i = local.x; i < padded; i += tile) {
      const int y = corner.y + j, x = corner.x + i;
      shared[j][i] = x >= 0 && x < width && y >= 0 && y < height ? image[y * width + x] : 0.0f;
    }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const int2 at = int2(group) * tile + int2(local);
  if (at.x >= width || at.y >= height) return;
  float sum = 0;
  for (int dy = 0; dy < filter_width; ++dy)
    for (int dx = 0; dx < filter_width; ++dx)
      sum += shared[local.y + dy][local.x + dx] * filter[dy * filter_width + dx];
  out[at.y * width + at.x] = sum;
}
