// Instance and group normalization in one step, for GPUs: a threadgroup has a group of an image and goes through it for
// its mean, its variance and its results. Caches have it the second and the third time.
#include "group_normalization.h"
#include "rows.h"

// A thread's numbers of a group: every n-th, for n threads, channel after channel and pixel after pixel.
struct Walk {
  uint pixel, channel;
  uint more_pixels, more_channels, group, pixels;

  Walk(constant GroupNormalization& p, uint place, uint threads)
      : pixel(place / p.group),
        channel(place % p.group),
        more_pixels(threads / p.group),
        more_channels(threads % p.group),
        group(p.group),
        pixels(p.source.width) {}

  template <typename Visit>
  void each(Visit visit) thread {
    while (pixel < pixels) {
      visit(pixel, channel);
      pixel += more_pixels;
      channel += more_channels;
      if (channel >= group) {
        channel -= group;
        ++pixel;
      }
    }
  }
};

template <typename T>
void normalize_group(device const T* source, device T* result, device const float* gamma, device const float* beta,
                     constant GroupNormalization& p, uint2 group, uint place, uint threads, uint simdgroup,
                     uint simdgroups, threadgroup float* shared) {
  const uint first = group.x * p.group;
  source += group.y * p.source.image_stride + first;
  result += group.y * p.result.image_stride + first;
  gamma += first;
  beta += first;
  const float count = float(p.source.width) * p.group;
  const Walk own(p, place, threads);
  const auto number = [&](uint pixel, uint channel) {
    return float(source[ulong(pixel) * p.source.pixel_stride + channel]);
  };

  float sum = 0;
  Walk(own).each([&](uint pixel, uint channel) { sum += number(pixel, channel); });
  const float mean = sum_over_threadgroup(sum, shared, simdgroup, simdgroups) / count;
  float squares = 0;
  Walk(own).each([&](uint pixel, uint channel) {
    const float difference = number(pixel, channel) - mean;
    squares = fma(difference, difference, squares);
  });
  const float variance = sum_over_threadgroup(squares, shared, simdgroup, simdgroups) / count;
  const float inverse = 1 / sqrt(variance + p.epsilon);
  Walk(own).each([&](uint pixel, uint channel) {
    result[ulong(pixel) * p.result.pixel_stride + channel] =
        T(fma((number(pixel, channel) - mean) * inverse, gamma[channel], beta[channel]));
  });
}

#define GROUP_NORMALIZATION(T)                                                                                        \
  [[host_name("group_normalization_gpu_" #T)]] kernel void group_normalization_gpu_##T(                               \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],  \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                           \
      uint2 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],                       \
      uint threads [[threads_per_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],                    \
      uint simdgroups [[simdgroups_per_threadgroup]]) {                                                               \
    threadgroup float shared[most_simdgroups];                                                                        \
    normalize_group(source, result, gamma, beta, p, group, place, threads, simdgroup, simdgroups, shared);            \
  }
GROUP_NORMALIZATION(float)
GROUP_NORMALIZATION(half)
