// Reductions of images along one direction, one number of the result for each thread; those of channels with weights
// too.
#include "image.h"

constant uint reduction [[function_constant(0)]];

enum Reduction : uint { reduction_min, reduction_max, reduction_sum, reduction_mean, reduction_argument_min,
                        reduction_argument_max };

struct Reduce {
  ImageTensor source, result;
  uint count, stride;  // of the numbers that become one
  float weight;
};

template <typename T>
float reduced(device const T* numbers, constant Reduce& p) {
  if (reduction == reduction_sum || reduction == reduction_mean) {
    float sum = 0;
    for (uint i = 0; i < p.count; ++i) sum += float(numbers[ulong(i) * p.stride]);
    return p.weight * (reduction == reduction_mean ? sum / p.count : sum);
  }
  const bool wants_least = reduction == reduction_min || reduction == reduction_argument_min;
  float best = numbers[0];
  uint index = 0;
  for (uint i = 1; i < p.count; ++i) {
    const float number = numbers[ulong(i) * p.stride];
    const bool is_better = wants_least ? number < best : number > best;
    best = is_better ? number : best;
    index = is_better ? i : index;
  }
  return reduction == reduction_argument_min || reduction == reduction_argument_max ? float(index) : best;
}

#define REDUCE(T)                                                                                                 \
  [[host_name("reduce_" #T)]] kernel void reduce_##T(                                                             \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Reduce& p [[buffer(2)]],     \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint channel = position.x % p.result.channels, x = position.x / p.result.channels;                      \
    source += position.z * p.source.image_stride + ulong(position.y) * p.source.row_stride +                      \
              x * p.source.pixel_stride + channel;                                                                \
    result[position.z * p.result.image_stride + ulong(position.y) * p.result.row_stride +                         \
           x * p.result.pixel_stride + channel] = T(reduced(source, p));                                          \
  }
REDUCE(float)
REDUCE(half)

struct WeightedReduce {
  ImageTensor source, weights, result;
};

enum Weighing : uint { weighted_sum, weighted_mean, weighted_by_non_zero };

#define WEIGHTED_REDUCE(T)                                                                                        \
  [[host_name("weighted_reduce_" #T)]] kernel void weighted_reduce_##T(                                           \
      device const T* source [[buffer(0)]], device const T* weights [[buffer(1)]], device T* result [[buffer(2)]], \
      constant WeightedReduce& p [[buffer(3)]], uint3 position [[thread_position_in_grid]]) {                     \
    source += position.z * p.source.image_stride + ulong(position.y) * p.source.row_stride +                      \
              position.x * p.source.pixel_stride;                                                                 \
    weights += position.z * p.weights.image_stride + ulong(position.y) * p.weights.row_stride +                   \
               position.x * p.weights.pixel_stride;                                                               \
    float sum = 0, count = 0;                                                                                     \
    for (uint channel = 0; channel < p.source.channels; ++channel) {                                              \
      const float weight = weights[channel];                                                                      \
      sum = fma(float(source[channel]), weight, sum);                                                             \
      count += weight != 0 ? 1 : 0;                                                                               \
    }                                                                                                             \
    if (reduction == weighted_mean) sum /= p.source.channels;                                                     \
    if (reduction == weighted_by_non_zero) sum = count == 0 ? 0 : sum / count;                                    \
    result[position.z * p.result.image_stride + ulong(position.y) * p.result.row_stride +                         \
           position.x * p.result.pixel_stride] = T(sum);                                                          \
  }
WEIGHTED_REDUCE(float)
WEIGHTED_REDUCE(half)

// A SIMD-group has the channels of one pixel, where there are many.
template <typename T>
float reduced_together(device const T* numbers, constant Reduce& p, uint lane) {
  if (reduction == reduction_sum || reduction == reduction_mean) {
    float sum = 0;
    for (uint i = lane; i < p.count; i += 32) sum += float(numbers[i]);
    sum = simd_sum(sum);
    return p.weight * (reduction == reduction_mean ? sum / p.count : sum);
  }
  float best = numbers[0];
  for (uint i = lane; i < p.count; i += 32)
    best = reduction == reduction_min ? min(best, float(numbers[i])) : max(best, float(numbers[i]));
  return reduction == reduction_min ? simd_min(best) : simd_max(best);
}

#define REDUCE_TOGETHER(T)                                                                                        \
  [[host_name("reduce_together_" #T)]] kernel void reduce_together_##T(                                           \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Reduce& p [[buffer(2)]],     \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint x = position.y, y = position.z % p.result.height, image = position.z / p.result.height;            \
    source += image * p.source.image_stride + ulong(y) * p.source.row_stride + x * p.source.pixel_stride;         \
    const float value = reduced_together(source, p, position.x);                                                  \
    if (position.x == 0)                                                                                          \
      result[image * p.result.image_stride + ulong(y) * p.result.row_stride + x * p.result.pixel_stride] = T(value); \
  }
REDUCE_TOGETHER(float)
REDUCE_TOGETHER(half)
