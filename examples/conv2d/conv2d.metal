#include <metal_stdlib>
using namespace metal;

// The 2-D convolution of planar images, [image][channel][y][x], with weights [output][input][y][x]; results are as
// large as the source, which has zeros around it.
struct Shape {
  uint images, width, height, inputs, outputs, kernel_size;
};

// One thread makes one result and reads everything from device memory.
kernel void conv2d_naive(device const float* source  [[buffer(0)]],
                         device const float* weights [[buffer(1)]],
                         device float* result        [[buffer(2)]],
                         constant Shape& shape       [[buffer(3)]],
                         uint3 position              [[thread_position_in_grid]]) {
  const uint x = position.x, y = position.y;
  const uint output = position.z % shape.outputs, image = position.z / shape.outputs;
  if (x >= shape.width || y >= shape.height) return;
  const int reach = shape.kernel_size / 2;
  float sum = 0;
  for (uint input = 0; input < shape.inputs; ++input) {
    device const float* plane = source + (image * shape.inputs + input) * shape.height * shape.width;
    device const float* filter = weights + (output * shape.inputs + input) * shape.kernel_size * shape.kernel_size;
    for (uint ky = 0; ky < shape.kernel_size; ++ky)
      for (uint kx = 0; kx < shape.kernel_size; ++kx) {
        const int from_x = int(x + kx) - reach, from_y = int(y + ky) - reach;
        if (from_x >= 0 && from_x < int(shape.width) && from_y >= 0 && from_y < int(shape.height))
          sum += plane[from_y * int(shape.width) + from_x] * filter[ky * shape.kernel_size + kx];
      }
  }
  result[((image * shape.outputs + output) * shape.height + y) * shape.width + x] = sum;
}

// A threadgroup makes a tile of pixels in several output channels. For some input channels at a time its threads bring
// the pixels that the tile needs, and the filters, into threadgroup memory together; each then is used by many of them.
constant constexpr uint tile_width = 32, tile_height = 8, tile_outputs = 8;

kernel void conv2d_tiled(device const float* source   [[buffer(0)]],
                         device const float* weights  [[buffer(1)]],
                         device float* result         [[buffer(2)]],
                         constant Shape& shape        [[buffer(3)]],
                         constant uint& tile_inputs   [[buffer(4)]],
                         threadgroup float* memory    [[threadgroup(0)]],
                         uint3 group                  [[threadgroup_position_in_grid]],
                         uint2 local                  [[thread_position_in_threadgroup]],
                         uint index                   [[thread_index_in_threadgroup]]) {
  const uint size = shape.kernel_size, taps = size * size;
  const uint loaded_width = tile_width + size - 1, loaded_height = tile_height + size - 1;
  threadgroup float* pixels = memory;                                                // [input][y][x]
  threadgroup float* filters = memory + tile_inputs * loaded_width * loaded_height;  // [input][tap][output]

  const uint blocks = (shape.outputs + tile_outputs - 1) / tile_outputs;
  const uint first_output = group.z % blocks * tile_outputs, image = group.z / blocks;
  const int left = int(group.x * tile_width) - int(size / 2), top = int(group.y * tile_height) - int(size / 2);

  float sums[tile_outputs] = {};
  for (uint first = 0; first < shape.inputs; first += tile_inputs) {
    const uint inputs = min(tile_inputs, shape.inputs - first);
    device const float* planes = source + (image * shape.inputs + first) * shape.height * shape.width;
    for (uint row = local.y; row < inputs * loaded_height; row += tile_height) {
      device const float* plane = planes + row / loaded_height * shape.height * shape.width;
      const int y = top + int(row % loaded_height);
      for (uint column = local.x; column < loaded_width; column += tile_width) {
        const int x = left + int(column);
        const bool is_inside = x >= 0 && x < int(shape.width) && y >= 0 && y < int(shape.height);
        pixels[row * loaded_width + column] = is_inside ? plane[y * int(shape.width) + x] : 0;
      }
    }
    for (uint i = index; i < inputs * taps * tile_outputs; i += tile_width * tile_height) {
      const uint tap = i / tile_outputs, output = first_output + i % tile_outputs;  // of all inputs
      filters[i] = output < shape.outputs ? weights[(output * shape.inputs + first) * taps + tap] : 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint input = 0; input < inputs; ++input)
      for (uint ky = 0; ky < size; ++ky)
        for (uint kx = 0; kx < size; ++kx) {
          const float pixel = pixels[(input * loaded_height + local.y + ky) * loaded_width + local.x + kx];
          for (uint o = 0; o < tile_outputs; ++o)
            sums[o] = fma(pixel, filters[((input * size + ky) * size + kx) * tile_outputs + o], sums[o]);
        }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }

  const uint x = group.x * tile_width + local.x, y = group.y * tile_height + local.y;
  if (x >= shape.width || y >= shape.height) return;
  for (uint o = 0; o < tile_outputs; ++o)
    if (first_output + o < shape.outputs)
      result[((image * shape.outputs + first_output + o) * shape.height + y) * shape.width + x] = sums[o];
}
