// How many steps each point of the plane takes to escape, at most `limit`.
#include <metal_stdlib>
using namespace metal;

kernel void mandelbrot(device uint* steps, constant uint& width, constant uint& height, constant uint& limit,
                       uint2 position [[thread_position_in_grid]]) {
  const float2 c = float2(position) / float2(width, height) * float2(3.0f, 2.5f) - float2(2.25f, 1.25f);
  float2 z = 0;
  uint count = 0;
  while (count < limit && z.x * z.x + z.y * z.y < 4.0f) {
    z = float2(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
    ++count;
  }
  steps[position.y * width + position.x] = count;
}
