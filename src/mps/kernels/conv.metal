// Convolutions. A thread makes one output channel of several neighbouring pixels: threads of a SIMD-group read
// neighbouring weights and, all of them, the same numbers of the source, so each weight serves several pixels.
//
// Weights are packed as [group][y][x][input][output]; those of a depthwise convolution as [y][x][channel]. A gradient
// of the source, and a transposed convolution, are convolutions too, of a source whose pixels are moved apart.
#include "convolution.h"
#include "neuron.h"

constant uint neuron_type [[function_constant(0)]];

// Which of `size` pixels that are moved apart is at x; negative: none.
inline int pixel_at(int x, uint size, uint apart, uint edge) {
  if (apart == 1) return inside(x, size, edge);
  return x >= 0 && x % int(apart) == 0 && x / int(apart) < int(size) ? x / int(apart) : -1;
}

inline float finished(float sum, uint output, device const float* slopes, NeuronParameters parameters) {
  if (neuron_type == neuron_prelu) parameters.a = slopes[output];
  return neuron(neuron_type, sum, parameters);
}

template <typename T>
void convolve(device const T* source, device const float* weights, device const float* biases,
              device const float* slopes, device T* result, constant Convolution& c, NeuronParameters parameters,
              uint3 position) {
  constexpr uint pixels = 8;
  const uint output = position.x, first = position.y * pixels;
  const uint group = position.z % c.groups, line = position.z / c.groups;
  const uint y = line % c.result.height, image = line / c.result.height;
  source += image * c.source.image_stride + group * c.inputs;
  weights += ulong(group) * c.kernel_height * c.kernel_width * c.inputs * c.outputs + output;

  float sums[pixels];
  for (uint p = 0; p < pixels; ++p) sums[p] = biases[group * c.outputs + output];
  const uint step = c.stride_x * c.source.pixel_stride;
  for (uint ky = 0; ky < c.kernel_height; ++ky) {
    const int from_y = pixel_at(c.top + int(y * c.stride_y + ky * c.dilation_y), c.source.height, c.apart_y, c.edge);
    if (from_y < 0) continue;
    device const T* row = source + ulong(from_y) * c.source.row_stride;
    for (uint kx = 0; kx < c.kernel_width; ++kx) {
      device const float* w = weights + ulong(ky * c.kernel_width + kx) * c.inputs * c.outputs;
      const int from_x = c.left + int(first * c.stride_x + kx * c.dilation_x);
      if (c.apart_x == 1 && from_x >= 0 && from_x + int((pixels - 1) * c.stride_x) < int(c.source.width)) {
        device const T* s = row + from_x * c.source.pixel_stride;
        for (uint i = 0; i < c.inputs; ++i) {
          const float weight = w[ulong(i) * c.outputs];
          for (uint p = 0; p < pixels; ++p) sums[p] = fma(float(s[p * step + i]), weight, sums[p]);
        }
      } else {
        for (uint p = 0; p < pixels; ++p) {
          const int x = pixel_at(from_x + int(p * c.stride_x), c.source.width, c.apart_x, c.edge);
          if (x < 0 || first + p >= c.result.width) continue;
          device const T* s = row + x * c.source.pixel_stride;
          float sum = sums[p];
          for (uint i = 0; i < c.inputs; ++i) sum = fma(float(s[i]), w[ulong(i) * c.outputs], sum);
          sums[p] = sum;
        }
      }
    }
  }
  result += image * c.result.image_stride + ulong(y) * c.result.row_stride + group * c.outputs + output;
  for (uint p = 0; p < pixels; ++p)
    if (first + p < c.result.width)
      result[(first + p) * c.result.pixel_stride] =
          T(finished(sums[p], group * c.outputs + output, slopes, parameters));
}

template <typename T>
void convolve_depthwise(device const T* source, device const float* weights, device const float* biases,
                        device const float* slopes, device T* result, constant Convolution& c,
                        NeuronParameters parameters, uint3 position) {
  const uint channel = position.x, x = position.y;
  const uint y = position.z % c.result.height, image = position.z / c.result.height;
  source += image * c.source.image_stride + channel;
  float sum = biases[channel];
  for (uint ky = 0; ky < c.kernel_height; ++ky) {
    const int from_y = pixel_at(c.top + int(y * c.stride_y + ky * c.dilation_y), c.source.height, c.apart_y, c.edge);
    if (from_y < 0) continue;
    for (uint kx = 0; kx < c.kernel_width; ++kx) {
      const int from_x = pixel_at(c.left + int(x * c.stride_x + kx * c.dilation_x), c.source.width, c.apart_x, c.edge);
      if (from_x < 0) continue;
      sum = fma(float(source[ulong(from_y) * c.source.row_stride + from_x * c.source.pixel_stride]),
                weights[(ky * c.kernel_width + kx) * c.groups + channel], sum);
    }
  }
  result[image * c.result.image_stride + ulong(y) * c.result.row_stride + x * c.result.pixel_stride + channel] =
      T(finished(sum, channel, slopes, parameters));
}

#define CONVOLUTION(T, name)                                                                                       \
  [[host_name(#name "_" #T)]] kernel void name##_##T(                                                              \
      device const T* source [[buffer(0)]], device const float* weights [[buffer(1)]],                             \
      device const float* biases [[buffer(2)]], device const float* slopes [[buffer(3)]],                          \
      device T* result [[buffer(4)]], constant Convolution& c [[buffer(5)]],                                       \
      constant NeuronParameters& parameters [[buffer(6)]], uint3 position [[thread_position_in_grid]]) {           \
    name(source, weights, biases, slopes, result, c, parameters, position);                                        \
  }
CONVOLUTION(float, convolve) CONVOLUTION(half, convolve)
CONVOLUTION(float, convolve_depthwise) CONVOLUTION(half, convolve_depthwise)

// From [output][y][x][input of the group] to what the kernels above take. Turned: for the gradient of the source, where
// outputs become inputs, and the first tap the last.
struct Packing {
  uint groups, inputs, outputs;  // of one group, before turning
  uint kernel_width, kernel_height;
  uint turned;
};

[[host_name("convolve_pack")]] kernel void convolve_pack(device const float* weights [[buffer(0)]],
                                                         device float* packed [[buffer(1)]],
                                                         constant Packing& p [[buffer(2)]],
                                                         uint3 position [[thread_position_in_grid]]) {
  const uint input = position.x, tap = position.y, output = position.z;
  const uint taps = p.kernel_width * p.kernel_height, to_tap = p.turned ? taps - 1 - tap : tap;
  const uint group = output / p.outputs, in_group = output % p.outputs;
  const float weight = weights[(ulong(output) * taps + tap) * p.inputs + input];
  if (p.inputs == 1 && p.outputs == 1)
    packed[ulong(to_tap) * p.groups + group] = weight;
  else if (p.turned)
    packed[((ulong(group) * taps + to_tap) * p.outputs + in_group) * p.inputs + input] = weight;
  else
    packed[((ulong(group) * taps + to_tap) * p.inputs + input) * p.outputs + in_group] = weight;
}

// Gradients of weights: a thread makes those of one input channel and several output channels at one tap. Here `result`
// is the gradient of what the convolution made.
template <typename T>
void weights_gradient(device const T* source, device const T* gradient, device float* result,
                      constant Convolution& c, uint3 position) {
  constexpr uint outputs = 8;
  const uint input = position.x, kx = position.y % c.kernel_width, ky = position.y / c.kernel_width;
  const uint tiles = (c.outputs + outputs - 1) / outputs;
  const uint group = position.z / tiles, first = position.z % tiles * outputs;
  source += group * c.inputs + input;
  gradient += group * c.outputs + first;
  const uint count = min(outputs, c.outputs - first);
  float sums[outputs];
  for (uint o = 0; o < outputs; ++o) sums[o] = 0;
  for (uint image = 0; image < c.result.images; ++image)
    for (uint y = 0; y < c.result.height; ++y) {
      const int from_y = pixel_at(c.top + int(y * c.stride_y + ky * c.dilation_y), c.source.height, c.apart_y, edge_zero);
      if (from_y < 0) continue;
      device const T* row = source + image * c.source.image_stride + ulong(from_y) * c.source.row_stride;
      device const T* e = gradient + image * c.result.image_stride + ulong(y) * c.result.row_stride;
      for (uint x = 0; x < c.result.width; ++x) {
        const int from_x = pixel_at(c.left + int(x * c.stride_x + kx * c.dilation_x), c.source.width, c.apart_x, edge_zero);
        if (from_x < 0) continue;
        const float s = row[from_x * c.source.pixel_stride];
        if (count == outputs)
          for (uint o = 0; o < outputs; ++o) sums[o] = fma(s, float(e[x * c.result.pixel_stride + o]), sums[o]);
        else
          for (uint o = 0; o < outputs; ++o)
            sums[o] = fma(s, float(e[x * c.result.pixel_stride + min(o, count - 1)]), sums[o]);
      }
    }
  const uint taps = c.kernel_width * c.kernel_height;
  for (uint o = 0; o < outputs; ++o)
    if (o < count)
      result[(ulong(group * c.outputs + first + o) * taps + position.y) * c.inputs + input] = sums[o];
}

template <typename T>
void depthwise_weights_gradient(device const T* source, device const T* gradient, device float* result,
                                constant Convolution& c, uint3 position) {
  const uint channel = position.x, kx = position.y % c.kernel_width, ky = position.y / c.kernel_width;
  source += channel;
  gradient += channel;
  float sum = 0;
  for (uint image = 0; image < c.result.images; ++image)
    for (uint y = 0; y < c.result.height; ++y) {
      const int from_y = pixel_at(c.top + int(y * c.stride_y + ky * c.dilation_y), c.source.height, c.apart_y, edge_zero);
      if (from_y < 0) continue;
      for (uint x = 0; x < c.result.width; ++x) {
        const int from_x = pixel_at(c.left + int(x * c.stride_x + kx * c.dilation_x), c.source.width, c.apart_x, edge_zero);
        if (from_x < 0) continue;
        sum = fma(float(source[image * c.source.image_stride + ulong(from_y) * c.source.row_stride +
                               from_x * c.source.pixel_stride]),
                  float(gradient[image * c.result.image_stride + ulong(y) * c.result.row_stride +
                                 x * c.result.pixel_stride]),
                  sum);
      }
    }
  result[ulong(channel) * c.kernel_width * c.kernel_height + position.y] = sum;
}

// Gradients of biases: a thread sums every so many rows of an output channel, and if there are several threads, a
// SIMD-group what these have found.
template <typename T>
void biases_gradient(device const T* gradient, device float* result, constant ImageTensor& g, uint parts,
                     uint2 position) {
  const uint output = position.x, part = position.y;
  float sum = 0;
  for (uint row = part; row < g.images * g.height; row += parts) {
    device const T* pixels =
        gradient + row / g.height * g.image_stride + ulong(row % g.height) * g.row_stride + output;
    float of_row = 0;
    for (uint x = 0; x < g.width; ++x) of_row += float(pixels[x * g.pixel_stride]);
    sum += of_row;
  }
  result[ulong(output) * parts + part] = sum;
}

[[host_name("convolve_sum_of_parts")]] kernel void convolve_sum_of_parts(
    device const float* sums [[buffer(0)]], device float* result [[buffer(1)]], constant uint& parts [[buffer(2)]],
    uint2 position [[thread_position_in_grid]]) {
  float sum = 0;
  for (uint part = position.x; part < parts; part += 32) sum += sums[ulong(position.y) * parts + part];
  sum = simd_sum(sum);
  if (position.x == 0) result[position.y] = sum;
}

#define GRADIENTS(T)                                                                                               \
  [[host_name("convolve_weights_gradient_" #T)]] kernel void convolve_weights_gradient_##T(                        \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                                \
      device float* result [[buffer(2)]], constant Convolution& c [[buffer(3)]],                                   \
      uint3 position [[thread_position_in_grid]]) {                                                                \
    weights_gradient(source, gradient, result, c, position);                                                       \
  }                                                                                                                \
  [[host_name("convolve_depthwise_weights_gradient_" #T)]] kernel void convolve_depthwise_weights_gradient_##T(    \
      device const T* source [[buffer(0)]], device const T* gradient [[buffer(1)]],                                \
      device float* result [[buffer(2)]], constant Convolution& c [[buffer(3)]],                                   \
      uint3 position [[thread_position_in_grid]]) {                                                                \
    depthwise_weights_gradient(source, gradient, result, c, position);                                             \
  }                                                                                                                \
  [[host_name("convolve_biases_gradient_" #T)]] kernel void convolve_biases_gradient_##T(                          \
      device const T* gradient [[buffer(0)]], device float* result [[buffer(1)]],                                  \
      constant ImageTensor& g [[buffer(2)]], constant uint& parts [[buffer(3)]],                                   \
      uint2 position [[thread_position_in_grid]]) {                                                                \
    biases_gradient(gradient, result, g, parts, position);                                                         \
  }
GRADIENTS(float) GRADIENTS(half)

// A convolution for sub-pixels has a block of factor x factor pixels in the channels of each of its pixels, row by row.
struct SubPixels {
  ImageTensor source, result;
  uint factor;
};

#define SUB_PIXELS(T)                                                                                              \
  [[host_name("sub_pixels_" #T)]] kernel void sub_pixels_##T(                                                      \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant SubPixels& p [[buffer(2)]],   \
      uint3 position [[thread_position_in_grid]]) {                                                                \
    const uint channel = position.x % p.result.channels, x = position.x / p.result.channels, y = position.y;       \
    const uint block = y % p.factor * p.factor + x % p.factor;                                                     \
    result[position.z * p.result.image_stride + ulong(y) * p.result.row_stride + x * p.result.pixel_stride +       \
           channel] =                                                                                              \
        source[position.z * p.source.image_stride + ulong(y / p.factor) * p.source.row_stride +                    \
               x / p.factor * p.source.pixel_stride + block * p.result.channels + channel];                        \
  }
SUB_PIXELS(float) SUB_PIXELS(half)
