// Instance and group normalization in one step, for CPUs and slices that fit their caches: a SIMD-group finds mean and
// variance of a slice, which is a group of channels of an image, and normalizes it while it is near. Memory is read once
// and written once.
//
// The numbers of a wide group are shared by all threads; of narrow groups there are several, and a thread has a channel.
#include "image.h"
#include "rows.h"
#include "streaming.h"

constant uint fills_caches [[function_constant(0)]];
constant uint has_all_lanes [[function_constant(1)]];  // narrow groups fill all SIMD-groups

struct GroupNormalization {
  ImageTensor source, result;
  uint group;  // channels
  uint lanes;  // that have a channel, of narrow groups
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

// Mean and variance of the channels of the thread's group, of those of each thread's channel.
inline float2 over_group(float mean, float variance, uint group, uint place) {
  const uint first = place / group * group;
  float sum = 0, squares = 0;
  for (uint i = first; i < first + group; ++i) sum += simd_shuffle(mean, ushort(min(i, 31u)));
  const float average = sum / group;
  for (uint i = first; i < first + group; ++i) {
    const ushort lane = min(i, 31u);
    const float difference = simd_shuffle(mean, lane) - average;
    squares += simd_shuffle(variance, lane) + difference * difference;
  }
  return float2(average, squares / group);
}

template <typename T, bool streams>
void normalize_narrow(Slice<T> slice, constant GroupNormalization& p, uint channels_left, uint place) {
  constexpr uint pixels_of_part = 16;
  const bool has_channel = has_all_lanes || place < min(p.lanes, channels_left);
  const uint stride = p.source.pixel_stride;
  Parts parts;
  float squares = 0;
  if (has_channel)
    for (uint y = 0; y < p.source.height; ++y) {
      device const T* row = slice.source + ulong(y) * p.source.row_stride;
      for (uint first = 0; first < p.source.width; first += pixels_of_part) {
        const uint end = min(first + pixels_of_part, p.source.width);
        float sum = 0;
        for (uint x = first; x < end; ++x) sum += float(row[ulong(x) * stride]);
        const float mean = sum / (end - first);
        for (uint x = first; x < end; ++x) {
          fetch_ahead(row + p.next + ulong(x) * stride);
          const float difference = float(row[ulong(x) * stride]) - mean;
          squares = fma(difference, difference, squares);
        }
        parts.add(end - first, mean);
      }
    }
  float mean = parts.mean, variance = (squares + parts.squares) / parts.count;
  if (p.group > 1) {
    const float2 found = over_group(mean, variance, p.group, place);
    mean = found.x;
    variance = found.y;
  }
  if (!has_channel) return;
  const float scale = *slice.gamma / sqrt(variance + p.epsilon), shift = *slice.beta;
  for (uint y = 0; y < p.source.height; ++y) {
    device const T* row = slice.source + ulong(y) * p.source.row_stride;
    device T* results = slice.result + ulong(y) * p.result.row_stride;
    for (uint x = 0; x < p.source.width; ++x)
      put<streams>(results + ulong(x) * p.result.pixel_stride,
                   T(fma(float(row[ulong(x) * stride]) - mean, scale, shift)));
  }
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
  [[host_name("group_normalization_narrow_" #T)]] kernel void group_normalization_narrow_##T(                          \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint2 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                      \
    const uint first = group.x * p.lanes;                                                                              \
    const Slice<T> slice(source, result, gamma, beta, p, group.y, first, place);                                       \
    if (fills_caches)                                                                                                  \
      normalize_narrow<T, true>(slice, p, p.source.channels - first, place);                                           \
    else                                                                                                               \
      normalize_narrow<T, false>(slice, p, p.source.channels - first, place);                                          \
  }
GROUP_NORMALIZATION(float)
GROUP_NORMALIZATION(half)
