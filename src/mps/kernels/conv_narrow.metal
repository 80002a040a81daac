// Gradients of weights where a window holds few numbers, as in a network's first layer: the other kernels would have
// next to no threads, and math libraries are no better. For GPUs.
//
// A SIMD-group has 32 output channels and some rows of the images; a thread keeps the sums of all taps of its channel.
// Four pixels are done at a time, so that a number of the source serves several taps. What SIMD-groups have found is
// put together in a threadgroup, and what these have found by convolve_sum_of_parts, always in the same order.
#include "convolution.h"

constant uint kernel_width [[function_constant(0)]];
constant uint kernel_height [[function_constant(1)]];
constant uint inputs [[function_constant(2)]];
constant uint stride_x [[function_constant(3)]];
constant uint dilation_x [[function_constant(4)]];

constant constexpr uint most_taps = 32, pixels = 4, simdgroups = 8;

// `result` has, for each number of the gradient, those of the parts side by side.
template <typename T>
void weights_gradient_narrow(device const T* source, device const T* gradient, device float* result,
                             constant Convolution& c, uint parts, uint2 group, uint lane, uint simdgroup,
                             threadgroup float* shared) {
  const uint output = group.x * 32 + lane, taps = kernel_width * kernel_height * inputs;
  const uint last = c.source.width - 1;
  float sums[most_taps];
  #pragma unroll
  for (uint tap = 0; tap < most_taps; ++tap) sums[tap] = 0;

  for (uint row = group.y * simdgroups + simdgroup; row < c.result.images * c.result.height;
       row += parts * simdgroups) {
    const uint image = row / c.result.height, y = row % c.result.height;
    device const T* g = gradient + image * c.result.image_stride + ulong(y) * c.result.row_stride +
                        min(output, c.outputs - 1);
    for (uint x = 0; x < c.result.width; x += pixels) {
      float own[pixels];
      #pragma unroll
      for (uint p = 0; p < pixels; ++p)
        own[p] = x + p < c.result.width ? float(g[(x + p) * c.result.pixel_stride]) : 0;
      #pragma unroll
      for (uint ky = 0; ky < kernel_height; ++ky) {
        const int from_y = c.top + int(y * c.stride_y + ky * c.dilation_y);
        if (from_y < 0 || from_y >= int(c.source.height)) continue;
        device const T* line = source + image * c.source.image_stride + ulong(from_y) * c.source.row_stride;
        #pragma unroll
        for (uint kx = 0; kx < kernel_width; ++kx)
          #pragma unroll
          for (uint input = 0; input < inputs; ++input)
            #pragma unroll
            for (uint p = 0; p < pixels; ++p) {
              const int from_x = c.left + int(x * stride_x) + int(p * stride_x + kx * dilation_x);
              const uint at = uint(clamp(from_x, 0, int(last)));
              const float number = line[at * c.source.pixel_stride + input];
              const uint tap = (ky * kernel_width + kx) * inputs + input;
              sums[tap] = fma(own[p], from_x == int(at) ? number : 0, sums[tap]);
            }
      }
    }
  }

  #pragma unroll
  for (uint tap = 0; tap < most_taps; ++tap) {
    if (tap >= taps) break;
    shared[simdgroup * 32 + lane] = sums[tap];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0 && output < c.outputs) {
      float sum = 0;
      for (uint i = 0; i < simdgroups; ++i) sum += shared[i * 32 + lane];
      result[(ulong(output) * taps + tap) * parts + group.y] = sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
}

#define NARROW(T)                                                                                                 \
  [[host_name("convolve_weights_gradient_narrow_" #T)]] kernel void convolve_weights_gradient_narrow_##T(         \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                               \
      device float* result [[buffer(2)]], constant Convolution& c [[buffer(3)]], constant uint& parts [[buffer(4)]], \
      uint2 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],                      \
      uint simdgroup [[simdgroup_index_in_threadgroup]]) {                                                        \
    threadgroup float shared[simdgroups * 32];                                                                    \
    weights_gradient_narrow(source, gradient, result, c, parts, group, lane, simdgroup, shared);                  \
  }
NARROW(float) NARROW(half)
