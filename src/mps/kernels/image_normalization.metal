// Batch, instance and group normalization of images. Sums over a slice, which is a channel of a batch or of one image,
// are made in parts: a thread has a channel and every n-th row of pixels, so that neighbouring threads read neighbouring
// numbers; a second kernel puts the parts together. A slice's statistics and sums are a row of numbers, one for each
// channel.
//
// Where each number becomes one, a thread has some pixels of a line, one after the other, and a channel's numbers at hand
// for them.
#include "image.h"
#include "neuron.h"
#include "streaming.h"

constant uint neuron_type [[function_constant(0)]];
constant uint fills_caches [[function_constant(1)]];

struct Normalization {
  ImageTensor source, gradient, result;
  NeuronParameters parameters;
  float epsilon;
  uint parts, rows;   // threads that share the rows of pixels of a slice
  uint slice_stride;  // from an image's statistics and sums to those of the next: 0 where a batch has the same
  float count;        // of numbers that share statistics
  uint sums_have_gamma;
  uint pixels;  // of a thread

  uint end(uint x) const constant { return min(x + pixels, result.width); }
};

// A line's first number of the channel.
template <typename T>
T line(T numbers, ImageTensor tensor, uint row, uint channel) {
  return numbers + row / tensor.height * tensor.image_stride + ulong(row % tensor.height) * tensor.row_stride + channel;
}

// A part has a row of `channels` for each kind of number.
struct Parts {
  uint channels, parts, rows, width;

  float numbers_in(uint part) const constant { return float((rows - part + parts - 1) / parts) * width; }
};

// Means, then the squares of differences: nothing cancels.
#define IMAGE_STATISTICS(T)                                                                                         \
  [[host_name("image_statistics_" #T)]] kernel void image_statistics_##T(                                           \
      device const T* source [[buffer(0)]], device float* partial [[buffer(1)]],                                    \
      constant Normalization& p [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {                        \
    const uint channel = position.x, part = position.y, first = position.z * p.rows, end = first + p.rows;          \
    float sum = 0, squares = 0, count = 0;                                                                          \
    for (uint row = first + part; row < end; row += p.parts) {                                                             \
      device const T* numbers = source + row / p.source.height * p.source.image_stride +                            \
                                ulong(row % p.source.height) * p.source.row_stride + channel;                       \
      for (uint x = 0; x < p.source.width; ++x) sum += float(numbers[x * p.source.pixel_stride]);                   \
      count += p.source.width;                                                                                      \
    }                                                                                                               \
    const float mean = sum / count;                                                                                 \
    for (uint row = first + part; row < end; row += p.parts) {                                                             \
      device const T* numbers = source + row / p.source.height * p.source.image_stride +                            \
                                ulong(row % p.source.height) * p.source.row_stride + channel;                       \
      for (uint x = 0; x < p.source.width; ++x) {                                                                   \
        const float difference = float(numbers[x * p.source.pixel_stride]) - mean;                                  \
        squares = fma(difference, difference, squares);                                                             \
      }                                                                                                             \
    }                                                                                                               \
    partial += 2 * (position.z * p.parts + part) * p.source.channels;                                               \
    partial[channel] = mean;                                                                                        \
    partial[p.source.channels + channel] = squares;                                                                 \
  }
IMAGE_STATISTICS(float)
IMAGE_STATISTICS(half)

[[host_name("image_statistics_combine")]] kernel void image_statistics_combine(
    device const float* partial [[buffer(0)]], device float* mean [[buffer(1)]], device float* variance [[buffer(2)]],
    constant Parts& p [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {
  const uint channel = position.x, slice = position.y;
  partial += 2 * slice * p.parts * p.channels;
  float count = 0, average = 0, squares = 0;
  for (uint part = 0; part < p.parts; ++part) {
    const float more = p.numbers_in(part), difference = partial[(2 * part) * p.channels + channel] - average;
    count += more;
    average += difference * (more / count);
    squares += partial[(2 * part + 1) * p.channels + channel] + difference * difference * more * (1 - more / count);
  }
  mean[slice * p.channels + channel] = average;
  variance[slice * p.channels + channel] = squares / count;
}

// The numbers of a channel, and what they make of its pixels.
struct Channel {
  float mean, inverse, gamma, beta;
  NeuronParameters parameters;

  float normalized(float x) const thread { return (x - mean) * inverse; }
  float result(float x) const thread { return neuron(neuron_type, gamma * normalized(x) + beta, parameters); }
  float before_neuron(float g, float x) const thread {
    return g * neuron_slope(neuron_type, gamma * normalized(x) + beta, parameters);
  }
};

inline Channel channel_of(device const float* mean, device const float* variance, device const float* gamma,
                          device const float* beta, device const float* slopes, constant Normalization& p,
                          uint slice, uint channel) {
  const uint i = slice * p.slice_stride + channel;
  Channel c = {mean[i], 1 / sqrt(variance[i] + p.epsilon), gamma[channel], beta[channel], p.parameters};
  if (neuron_type == neuron_prelu) c.parameters.a = slopes[channel];
  return c;
}

template <typename T, bool streams>
void normalize(device const T* source, device T* result, Channel c, constant Normalization& p, uint first) {
  for (uint x = first; x < p.end(first); ++x)
    put<streams>(result + ulong(x) * p.result.pixel_stride, T(c.result(source[ulong(x) * p.source.pixel_stride])));
}

// What the sums of a slice add to all of its gradients.
struct Sums {
  float of_gamma, of_beta, count;
  bool have_gamma;

  float gradient(Channel c, float g, float n) const thread {
    const float means = (of_beta + n * of_gamma) / count;
    return c.inverse * (c.gamma * g - (have_gamma ? means : c.gamma * means));
  }
};

template <typename T, bool streams>
void give_gradients(device const T* gradient, device const T* source, device T* result, Channel c, Sums sums,
                    constant Normalization& p, uint first) {
  for (uint x = first; x < p.end(first); ++x) {
    const float value = source[ulong(x) * p.source.pixel_stride];
    const float g = c.before_neuron(gradient[ulong(x) * p.gradient.pixel_stride], value);
    put<streams>(result + ulong(x) * p.result.pixel_stride, T(sums.gradient(c, g, c.normalized(value))));
  }
}

// With n the normalized numbers and g the gradient before the neuron, the gradient of beta is the sum of g, that of
// gamma the sum of g * n, and that of the source gamma * inverse * (g - mean(g) - n * mean(g * n)).
#define IMAGE_NORMALIZATION(T)                                                                                        \
  [[host_name("image_normalization_" #T)]] kernel void image_normalization_##T(                                       \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* mean [[buffer(2)]],   \
      device const float* variance [[buffer(3)]], device const float* gamma [[buffer(4)]],                            \
      device const float* beta [[buffer(5)]], device const float* slopes [[buffer(6)]],                               \
      constant Normalization& p [[buffer(7)]], uint3 position [[thread_position_in_grid]]) {                          \
    const uint channel = position.x, row = position.z, first = position.y * p.pixels;                                 \
    const Channel c = channel_of(mean, variance, gamma, beta, slopes, p, row / p.result.height, channel);             \
    source = line(source, p.source, row, channel);                                                                    \
    result = line(result, p.result, row, channel);                                                                    \
    if (fills_caches)                                                                                                 \
      normalize<T, true>(source, result, c, p, first);                                                                \
    else                                                                                                              \
      normalize<T, false>(source, result, c, p, first);                                                               \
  }                                                                                                                   \
  [[host_name("image_normalization_sums_" #T)]] kernel void image_normalization_sums_##T(                             \
      device const T* gradient [[buffer(0)]], device const T* source [[buffer(1)]],                                   \
      device float* partial [[buffer(2)]], device const float* mean [[buffer(3)]],                                    \
      device const float* variance [[buffer(4)]], device const float* gamma [[buffer(5)]],                            \
      device const float* beta [[buffer(6)]], device const float* slopes [[buffer(7)]],                               \
      constant Normalization& p [[buffer(8)]], uint3 position [[thread_position_in_grid]]) {                          \
    const uint channel = position.x, part = position.y, first = position.z * p.rows, end = first + p.rows;            \
    const Channel c = channel_of(mean, variance, gamma, beta, slopes, p, position.z, channel);                        \
    float of_gamma = 0, of_beta = 0;                                                                                  \
    for (uint row = first + part; row < end; row += p.parts) {                                                        \
      const uint image = row / p.source.height, y = row % p.source.height;                                            \
      device const T* numbers = source + image * p.source.image_stride + ulong(y) * p.source.row_stride + channel;    \
      device const T* slopes_of = gradient + image * p.gradient.image_stride + ulong(y) * p.gradient.row_stride +     \
                                  channel;                                                                            \
      for (uint x = 0; x < p.source.width; ++x) {                                                                     \
        const float value = numbers[x * p.source.pixel_stride];                                                       \
        const float g = c.before_neuron(slopes_of[x * p.gradient.pixel_stride], value);                               \
        of_beta += g;                                                                                                 \
        of_gamma = fma(g, c.normalized(value), of_gamma);                                                             \
      }                                                                                                               \
    }                                                                                                                 \
    partial += 2 * (position.z * p.parts + part) * p.source.channels;                                                 \
    partial[channel] = of_gamma;                                                                                      \
    partial[p.source.channels + channel] = of_beta;                                                                   \
  }                                                                                                                   \
  [[host_name("image_normalization_gradient_" #T)]] kernel void image_normalization_gradient_##T(                     \
      device const T* gradient [[buffer(0)]], device const T* source [[buffer(1)]], device T* result [[buffer(2)]],   \
      device const float* mean [[buffer(3)]], device const float* variance [[buffer(4)]],                             \
      device const float* gamma [[buffer(5)]], device const float* beta [[buffer(6)]],                                \
      device const float* slopes [[buffer(7)]], device const float* of_gamma [[buffer(8)]],                           \
      device const float* of_beta [[buffer(9)]], constant Normalization& p [[buffer(10)]],                            \
      uint3 position [[thread_position_in_grid]]) {                                                                   \
    const uint channel = position.x, row = position.z, image = row / p.result.height;                                 \
    const uint i = image * p.slice_stride + channel, first = position.y * p.pixels;                                   \
    const Channel c = channel_of(mean, variance, gamma, beta, slopes, p, image, channel);                             \
    const Sums sums = {of_gamma[i], of_beta[i], p.count, bool(p.sums_have_gamma)};                                    \
    gradient = line(gradient, p.gradient, row, channel);                                                              \
    source = line(source, p.source, row, channel);                                                                    \
    result = line(result, p.result, row, channel);                                                                    \
    if (fills_caches)                                                                                                 \
      give_gradients<T, true>(gradient, source, result, c, sums, p, first);                                           \
    else                                                                                                              \
      give_gradients<T, false>(gradient, source, result, c, sums, p, first);                                          \
  }
IMAGE_NORMALIZATION(float)
IMAGE_NORMALIZATION(half)

[[host_name("image_normalization_sums_combine")]] kernel void image_normalization_sums_combine(
    device const float* partial [[buffer(0)]], device float* of_gamma [[buffer(1)]], device float* of_beta [[buffer(2)]],
    constant Parts& p [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {
  const uint channel = position.x, slice = position.y;
  partial += 2 * slice * p.parts * p.channels;
  float first = 0, second = 0;
  for (uint part = 0; part < p.parts; ++part) {
    first += partial[(2 * part) * p.channels + channel];
    second += partial[(2 * part + 1) * p.channels + channel];
  }
  of_gamma[slice * p.channels + channel] = first;
  of_beta[slice * p.channels + channel] = second;
}

// Channels that are normalized together. Every channel gets its group's numbers.
struct Groups {
  uint channels, size;
};

// Channels have equally many numbers: the mean of means, and the mean of variances and squared distances of means. A
// SIMD-group has a group of an image.
[[host_name("image_group_statistics")]] kernel void image_group_statistics(
    device const float* means [[buffer(0)]], device const float* variances [[buffer(1)]],
    device float* mean [[buffer(2)]], device float* variance [[buffer(3)]], constant Groups& p [[buffer(4)]],
    uint2 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const uint first = group.y * p.channels + group.x * p.size, end = first + p.size;
  float sum = 0, squares = 0;
  for (uint i = first + lane; i < end; i += 32) sum += means[i];
  const float average = simd_sum(sum) / p.size;
  for (uint i = first + lane; i < end; i += 32) squares += variances[i] + (means[i] - average) * (means[i] - average);
  const float of_group = simd_sum(squares) / p.size;
  for (uint i = first + lane; i < end; i += 32) {
    mean[i] = average;
    variance[i] = of_group;
  }
}

// What the channels of a group, each times its gamma, add to the gradients of their mean and variance.
[[host_name("image_group_sums")]] kernel void image_group_sums(
    device const float* of_gamma [[buffer(0)]], device const float* of_beta [[buffer(1)]],
    device const float* gamma [[buffer(2)]], device float* first_sum [[buffer(3)]],
    device float* second_sum [[buffer(4)]], constant Groups& p [[buffer(5)]],
    uint2 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  const uint row = group.y * p.channels, first = group.x * p.size, end = first + p.size;
  float x = 0, y = 0;
  for (uint channel = first + lane; channel < end; channel += 32) {
    x = fma(gamma[channel], of_gamma[row + channel], x);
    y = fma(gamma[channel], of_beta[row + channel], y);
  }
  x = simd_sum(x);
  y = simd_sum(y);
  for (uint channel = first + lane; channel < end; channel += 32) {
    first_sum[row + channel] = x;
    second_sum[row + channel] = y;
  }
}

// The sums of `count` slices from `first` on, which share a state.
struct StateSlices {
  uint channels, first, count;
};

[[host_name("image_state_gradients")]] kernel void image_state_gradients(
    device const float* of_gamma [[buffer(0)]], device const float* of_beta [[buffer(1)]],
    device float* gamma_result [[buffer(2)]], device float* beta_result [[buffer(3)]],
    constant StateSlices& p [[buffer(4)]], uint channel [[thread_position_in_grid]]) {
  float x = 0, y = 0;
  for (uint slice = p.first; slice < p.first + p.count; ++slice) {
    x += of_gamma[slice * p.channels + channel];
    y += of_beta[slice * p.channels + channel];
  }
  gamma_result[channel] = x;
  beta_result[channel] = y;
}
