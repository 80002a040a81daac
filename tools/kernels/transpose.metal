// The transpose of a matrix through 32 by 32 tiles, by threadgroups of 32 by 8. A tile's rows are 33 long, so that its
// columns lie in different banks.
#include <metal_stdlib>
using namespace metal;

constant constexpr uint tile = 32, rows = 8;

kernel void transpose(device const float* x, device float* out, constant uint& width, constant uint& height,
                      uint2 group [[threadgroup_position_in_grid]], uint2 local [[thread_position_in_threadgroup]]) {
  threadgroup float shared[tile][tile + 1];
  const uint2 from = group * tile + local;
  for (uint j = 0; j < tile; j += rows)
    if (from.x < width && from.y + j < height) shared[local.y + j][local.x] = x[(from.y + j) * width + from.x];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  const uint2 to = group.yx * tile + local;
  for (uint j = 0; j < tile; j += rows)
    if (to.x < height && to.y + j < width) out[(to.y + j) * height + to.x] = shared[local.x][local.y + j];
}
