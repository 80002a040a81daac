// Instance and group normalization in one step, for CPUs and images that fit their caches: a SIMD-group finds means and
// variances of an image, or of a wide group of its channels, and normalizes it while it is near. Memory is read once and
// written once.
//
// The numbers of a wide group are shared by all threads; of other images a thread has some channels.
#include "columns.h"
#include "image.h"

constant uint fills_caches [[function_constant(0)]];

struct GroupNormalization {
  ImageTensor source, result;
  uint group;  // channels
  float epsilon;
  ulong next;  // numbers from a slice to the one that is taken after it
};

// The mean of numbers that come in parts, and what the distances between the parts' means add to their squared
// differences. A part's own are found while it is in the nearest cache, in two steps, so that nothing cancels.
struct Parts {
  float count = 0, mean = 0, squares = 0;

  void add(float more, float more_mean) thread {
    const float difference = more_mean - mean, share = more / (count + more);
    mean += difference * share;
    squares += difference * difference * (count * share);
    count += more;
  }
};

// From a thread's first channel on.
template <typename T>
struct Slice {
  device const T* source;
  device T* result;
  device const float *gamma, *beta;

  Slice(device const T* source, device T* result, device const float* gamma, device const float* beta,
        constant GroupNormalization& p, uint image, uint first_channel, uint place)
      : source(source + image * p.source.image_stride + first_channel + place),
        result(result + image * p.result.image_stride + first_channel + place),
        gamma(gamma + first_channel + place),
        beta(beta + first_channel + place) {}
};

template <typename T, bool streams>
void normalize_wide(Slice<T> slice, constant GroupNormalization& p, uint place) {
  const uint pixels_of_part = max(4096 / p.group, 1u), stride = p.source.pixel_stride;
  Parts parts;
  float squares = 0;
  for (uint y = 0; y < p.source.height; ++y) {
    device const T* row = slice.source + ulong(y) * p.source.row_stride;
    for (uint first = 0; first < p.source.width; first += pixels_of_part) {
      const uint end = min(first + pixels_of_part, p.source.width);
      float sum = 0;
      for (uint x = first; x < end; ++x) {
        device const T* numbers = row + ulong(x) * stride;
        for_each_column(place, p.group, [&](uint i) { sum += float(numbers[i]); });
      }
      const float count = float(end - first) * p.group, mean = simd_sum(sum) / count;
      for (uint x = first; x < end; ++x) {
        device const T* numbers = row + ulong(x) * stride;
        for_each_column(place, p.group, [&](uint i) {
          fetch_ahead(numbers + p.next + i);
          const float difference = float(numbers[i]) - mean;
          squares = fma(difference, difference, squares);
        });
      }
      parts.add(count, mean);
    }
  }
  const float mean = parts.mean, inverse = 1 / sqrt((simd_sum(squares) + parts.squares) / parts.count + p.epsilon);
  for (uint y = 0; y < p.source.height; ++y)
    for (uint x = 0; x < p.source.width; ++x) {
      device const T* numbers = slice.source + ulong(y) * p.source.row_stride + ulong(x) * stride;
      device T* results = slice.result + ulong(y) * p.result.row_stride + ulong(x) * p.result.pixel_stride;
      for_each_column(place, p.group, [&](uint i) {
        put<streams>(results + i, T(fma((float(numbers[i]) - mean) * inverse, slice.gamma[i], slice.beta[i])));
      });
    }
}

// The numbers of an image's channels, in the threadgroup's memory.
struct Channels {
  threadgroup float *means, *squares, *part_means, *scales;
};

// Mean and variance of a channel's group, of those of its channels.
inline float2 over_group(threadgroup const float* means, threadgroup const float* squares, float count, uint channel,
                         uint group) {
  const uint first = channel / group * group;
  float sum = 0, all_squares = 0;
  for (uint i = first; i < first + group; ++i) sum += means[i];
  const float average = sum / group;
  for (uint i = first; i < first + group; ++i) {
    const float difference = means[i] - average;
    all_squares += squares[i] + count * difference * difference;
  }
  return float2(average, all_squares / (count * group));
}

template <typename T, bool streams>
void normalize_image(Slice<T> image, constant GroupNormalization& p, Channels all, uint place) {
  constexpr uint pixels_of_part = 64;
  const uint pixels = p.source.width, channels = p.source.channels;
  const Channels own = {all.means + place, all.squares + place, all.part_means + place, all.scales + place};
  for_each_column(place, channels, [&](uint i) { own.means[i] = own.squares[i] = 0; });
  for (uint first = 0; first < pixels; first += pixels_of_part) {
    const uint end = min(first + pixels_of_part, pixels);
    find_means<Rows::side_by_side>(image.source, p.source.pixel_stride, first, end, own.part_means, own.squares, place, channels);
    const float share = float(end - first) / end, weight = first * share;
    for_each_column(place, channels, [&](uint i) {
      const float difference = own.part_means[i] - own.means[i];
      own.means[i] = fma(difference, share, own.means[i]);
      own.squares[i] = fma(difference * difference, weight, own.squares[i]);
    });
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  threadgroup float *means = own.part_means, *scales = own.scales;
  for_each_column(place, channels, [&](uint i) {
    const float2 found = over_group(all.means, all.squares, pixels, i + place, p.group);
    means[i] = found.x;
    scales[i] = image.gamma[i] / sqrt(found.y + p.epsilon);
  });
  device const float* shifts = image.beta;
  write_rows<Rows::side_by_side, streams>(image.source, p.source.pixel_stride, image.result, p.result.pixel_stride, 0, pixels, place,
                      channels, [&](float x, uint i) { return fma(x - means[i], scales[i], shifts[i]); });
}

#define GROUP_NORMALIZATION(T)                                                                                         \
  [[host_name("group_normalization_wide_" #T)]] kernel void group_normalization_wide_##T(                              \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint2 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                      \
    const Slice<T> slice(source, result, gamma, beta, p, group.y, group.x * p.group, place);                           \
    if (fills_caches)                                                                                                  \
      normalize_wide<T, true>(slice, p, place);                                                                        \
    else                                                                                                               \
      normalize_wide<T, false>(slice, p, place);                                                                       \
  }                                                                                                                    \
  [[host_name("group_normalization_image_" #T)]] kernel void group_normalization_image_##T(                            \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint image [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                       \
    threadgroup float means[columns_together], squares[columns_together];                                              \
    threadgroup float part_means[columns_together], scales[columns_together];                                          \
    const Slice<T> slice(source, result, gamma, beta, p, image, 0, place);                                             \
    const Channels channels = {means, squares, part_means, scales};                                                    \
    if (fills_caches)                                                                                                  \
      normalize_image<T, true>(slice, p, channels, place);                                                             \
    else                                                                                                               \
      normalize_image<T, false>(slice, p, channels, place);                                                            \
  }
GROUP_NORMALIZATION(float)
GROUP_NORMALIZATION(half)
