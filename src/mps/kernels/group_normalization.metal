// Instance and group normalization in one step, for CPUs and images that fit their caches. A slice, which is an image or a
// wide group of its channels, is read twice, for its means and variances and for its results: a SIMD-group has some
// slices in turn, and while the results of one leave, statistics are made of the next, which comes from memory. So
// memory is read once and written once, and both all the time.
//
// The numbers of a wide group are shared by all threads; of other images a thread has some channels.
#include "image.h"
#include "rows.h"
#include "streaming.h"

constant uint fills_caches [[function_constant(0)]];

constant constexpr uint most_channels = 1024;  // of an image whose threads have some each

struct GroupNormalization {
  ImageTensor source, result;
  uint group, groups;    // channels of a group, and groups of an image
  uint slices, in_turn;  // of all images, and of a SIMD-group
  float epsilon;

  uint first(uint turn) const constant { return turn * in_turn; }
  uint end(uint turn) const constant { return min(first(turn) + in_turn, slices); }
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

// What is done with a slice in a step: its results, and the statistics of the next. In the first step of a SIMD-group
// there is nothing to give yet, and in the last nothing more to find out.
enum class Step { first, middle, last };

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

struct Normal {
  float mean, inverse;  // of the deviation
};

template <Step step, typename T, bool streams>
Normal normalize_wide(Slice<T> slice, device const T* next, Normal normal, constant GroupNormalization& p, uint place) {
  const uint pixels = p.source.width, stride = p.source.pixel_stride;
  const uint pixels_of_part = clamp(4096 / p.group, 1u, pixels);
  const ulong ahead = pixels_of_part < pixels ? ulong(pixels_of_part) * stride : ulong(next - slice.source);
  Parts parts;
  float squares = 0;
  for (uint first = 0; first < pixels; first += pixels_of_part) {
    const uint end = min(first + pixels_of_part, pixels);
    float sum = 0;
    for (uint x = first; x < end; ++x) {
      device const T *numbers = slice.source + ulong(x) * stride, *next_numbers = next + ulong(x) * stride;
      device T* results = slice.result + ulong(x) * p.result.pixel_stride;
      for_each_column(place, p.group, [&](uint i) {
        if (step != Step::last) {
          fetch_ahead(next_numbers + ahead + i);
          sum += float(next_numbers[i]);
        }
        if (step != Step::first)
          put<streams>(results + i,
                       T(fma((float(numbers[i]) - normal.mean) * normal.inverse, slice.gamma[i], slice.beta[i])));
      });
    }
    if (step == Step::last) continue;
    const float count = float(end - first) * p.group, mean = simd_sum(sum) / count;
    for (uint x = first; x < end; ++x) {
      device const T* next_numbers = next + ulong(x) * stride;
      for_each_column(place, p.group, [&](uint i) {
        const float difference = float(next_numbers[i]) - mean;
        squares = fma(difference, difference, squares);
      });
    }
    parts.add(count, mean);
  }
  return {parts.mean, 1 / sqrt((simd_sum(squares) + parts.squares) / parts.count + p.epsilon)};
}

template <typename T, bool streams>
void normalize_wide_in_turn(device const T* source, device T* result, device const float* gamma,
                            device const float* beta, constant GroupNormalization& p, uint turn, uint place) {
  const auto slice = [&](uint i) {
    return Slice<T>(source, result, gamma, beta, p, i / p.groups, i % p.groups * p.group, place);
  };
  const uint last = p.end(turn) - 1;
  uint i = p.first(turn);
  Normal normal = normalize_wide<Step::first, T, streams>(slice(i), slice(i).source, {0, 0}, p, place);
  for (; i < last; ++i)
    normal = normalize_wide<Step::middle, T, streams>(slice(i), slice(i + 1).source, normal, p, place);
  normalize_wide<Step::last, T, streams>(slice(i), slice(i).source, normal, p, place);
}

// The numbers of an image's channels, in the threadgroup's memory: of the image whose statistics are made, and of the one
// whose results are.
struct Channels {
  threadgroup float *means, *squares, *part_sums, *part_squares;
  threadgroup float *centers, *scales;

  Channels at(uint place) const thread {
    return {means + place,   squares + place, part_sums + place, part_squares + place,
            centers + place, scales + place};
  }
};

// Sums of a part are of differences from the mean of the image up to there, which at first is its first pixel: that is no
// further from the part's mean than the image's numbers are from theirs, so what cancels is small beside their variance.
template <uint rows, Step step, bool streams, typename T>
void take_pixels(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels own, uint first,
                 uint ahead, uint place) {
  const ulong stride = p.source.pixel_stride, result_stride = p.result.pixel_stride;
  device const T *numbers = image.source + first * stride, *next_numbers = next + first * stride;
  device T* results = image.result + first * result_stride;
  for_each_column(place, p.source.channels, [&](uint i) {
    if (step != Step::last) {
      const float mean = own.means[i];
      float sum = 0, squares = 0;
      for (uint k = 0; k < rows; ++k) {
        fetch_ahead(next_numbers + (ahead + k) * stride + i);
        const float difference = float(next_numbers[k * stride + i]) - mean;
        sum += difference;
        squares = fma(difference, difference, squares);
      }
      own.part_sums[i] += sum;
      own.part_squares[i] += squares;
    }
    if (step != Step::first) {
      const float center = own.centers[i], scale = own.scales[i], shift = image.beta[i];
      for (uint k = 0; k < rows; ++k)
        put<streams>(results + k * result_stride + i, T(fma(float(numbers[k * stride + i]) - center, scale, shift)));
    }
  });
}

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

template <Step step, typename T, bool streams>
void normalize_image(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels all, uint place) {
  constexpr uint pixels_of_part = 64;
  const uint pixels = p.source.width, channels = p.source.channels;
  const Channels own = all.at(place);
  for_each_column(place, channels, [&](uint i) {
    own.means[i] = float(next[i]);
    own.squares[i] = own.part_sums[i] = own.part_squares[i] = 0;
  });
  for (uint first = 0; first < pixels; first += pixels_of_part) {
    const uint end = min(first + pixels_of_part, pixels);
    uint x = first;
    for (; x + 4 <= end; x += 4) take_pixels<4, step, streams>(image, next, p, own, x, pixels_of_part, place);
    for (; x < end; ++x) take_pixels<1, step, streams>(image, next, p, own, x, pixels_of_part, place);
    if (step == Step::last) continue;
    const float count = end - first, share = count / end, weight = first * share;
    for_each_column(place, channels, [&](uint i) {
      const float sum = own.part_sums[i], difference = sum / count;
      own.means[i] = fma(difference, share, own.means[i]);
      own.squares[i] += fma(difference * difference, weight, own.part_squares[i] - sum * difference);
      own.part_sums[i] = own.part_squares[i] = 0;
    });
  }
  if (step == Step::last) return;
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for_each_column(place, channels, [&](uint i) {
    const float2 found = over_group(all.means, all.squares, pixels, i + place, p.group);
    own.centers[i] = found.x;
    own.scales[i] = image.gamma[i] / sqrt(found.y + p.epsilon);
  });
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

template <typename T, bool streams>
void normalize_images_in_turn(device const T* source, device T* result, device const float* gamma,
                              device const float* beta, constant GroupNormalization& p, Channels channels, uint turn,
                              uint place) {
  const auto image = [&](uint i) { return Slice<T>(source, result, gamma, beta, p, i, 0, place); };
  const uint last = p.end(turn) - 1;
  uint i = p.first(turn);
  normalize_image<Step::first, T, streams>(image(i), image(i).source, p, channels, place);
  for (; i < last; ++i) normalize_image<Step::middle, T, streams>(image(i), image(i + 1).source, p, channels, place);
  normalize_image<Step::last, T, streams>(image(i), image(i).source, p, channels, place);
}

#define GROUP_NORMALIZATION(T)                                                                                         \
  [[host_name("group_normalization_wide_" #T)]] kernel void group_normalization_wide_##T(                              \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint turn [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                        \
    if (fills_caches)                                                                                                  \
      normalize_wide_in_turn<T, true>(source, result, gamma, beta, p, turn, place);                                    \
    else                                                                                                               \
      normalize_wide_in_turn<T, false>(source, result, gamma, beta, p, turn, place);                                   \
  }                                                                                                                    \
  [[host_name("group_normalization_image_" #T)]] kernel void group_normalization_image_##T(                            \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint turn [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                        \
    threadgroup float means[most_channels], squares[most_channels], part_sums[most_channels];                          \
    threadgroup float part_squares[most_channels], centers[most_channels], scales[most_channels];                      \
    const Channels channels = {means, squares, part_sums, part_squares, centers, scales};                              \
    if (fills_caches)                                                                                                  \
      normalize_images_in_turn<T, true>(source, result, gamma, beta, p, channels, turn, place);                        \
    else                                                                                                               \
      normalize_images_in_turn<T, false>(source, result, gamma, beta, p, channels, turn, place);                       \
  }
GROUP_NORMALIZATION(float)
GROUP_NORMALIZATION(half)
