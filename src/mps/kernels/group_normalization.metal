// Instance and group normalization in one step, for CPUs and images that fit their caches: what a SIMD-group finds means
// and variances of, it normalizes while it is near. Memory is read once and written once.
//
// A SIMD-group has several images in turn: while the results of one leave, statistics are made of the next, so that
// memory is read and written at the same time. Steps go forward and backward in turn: what the step before read last is
// still in the caches, and results of it are given first. The numbers of a wide group are shared by all threads; of other
// images a thread has some channels.
#include "group_normalization.h"
#include "rows.h"
#include "streaming.h"

constant uint fills_caches [[function_constant(0)]];

constant constexpr uint most_channels = 1024;  // of an image whose threads have some each

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

// What is done with an image, or two, in a step: its results, and the statistics of the next. In the first step of a
// SIMD-group there is nothing to give yet, and in the last nothing more to find out.
enum class Step { first, middle, last };

// The mean of numbers that come in parts, and their squared differences from it.
struct Parts {
  float count = 0, mean = 0, squares = 0;

  // The next has so many numbers; sums are of their differences from the mean up to there, and of the squares. That mean
  // is no further from the part's than numbers are from theirs, so what cancels is small beside their variance.
  void add(float more, float sum, float square_sum) thread {
    const float difference = sum / more, share = more / (count + more);
    squares += fma(difference * difference, count * share, square_sum - sum * difference);
    mean += difference * share;
    count += more;
  }
  float inverse_deviation(float epsilon) const thread { return 1 / sqrt(squares / count + epsilon); }
};

// Two slices, of the same group, since gammas and betas come from the caches once for both. They are the same where one
// is left.
template <typename T>
struct Pair {
  Slice<T> slices[2];
};
struct Normals {
  float means[2], inverses[2];  // of deviations
};

// Pixels of a part, which comes after others that have so many of all.
struct PixelRange {
  uint first, end;

  PixelRange(uint pixels, uint before, uint most, bool backward) {
    const uint count = min(most, pixels - before);
    first = backward ? pixels - before - count : before;
    end = first + count;
  }
};

template <Step step, bool streams, typename T>
Normals normalize_wide(Pair<T> now, Pair<T> next, Normals normals, constant GroupNormalization& p, uint place,
                       bool backward) {
  const uint pixels = p.source.width, pixels_of_part = clamp(4096 / p.group, 1u, pixels);
  const long stride = p.source.pixel_stride, to_next_part = backward ? -stride * pixels_of_part : stride * pixels_of_part;
  const long ahead = pixels_of_part < pixels ? to_next_part : 2 * long(p.source.image_stride);
  Parts parts[2];
  for (uint k = 0; k < 2; ++k) parts[k].mean = simd_sum(float(*next.slices[k].source)) / 32;  // of the first numbers
  for (uint before = 0; before < pixels; before += pixels_of_part) {
    const PixelRange part(pixels, before, pixels_of_part, backward);
    float sums[2] = {0, 0}, squares[2] = {0, 0};
    for (uint x = part.first; x < part.end; ++x) {
      const ulong from = x * stride, to = ulong(x) * p.result.pixel_stride;
      for_each_column(place, p.group, backward, [&](uint i) {
        if (step != Step::last)
          for (uint k = 0; k < 2; ++k) {
            fetch_ahead(next.slices[k].source + from + ahead + i);
            const float difference = float(next.slices[k].source[from + i]) - parts[k].mean;
            sums[k] += difference;
            squares[k] = fma(difference, difference, squares[k]);
          }
        if (step != Step::first) {
          const float gamma = now.slices[0].gamma[i], beta = now.slices[0].beta[i];
          const float numbers[2] = {float(now.slices[0].source[from + i]), float(now.slices[1].source[from + i])};
          for (uint k = 0; k < 2; ++k)
            put<streams>(now.slices[k].result + to + i,
                         T(fma((numbers[k] - normals.means[k]) * normals.inverses[k], gamma, beta)));
        }
      });
    }
    for (uint k = 0; k < 2; ++k)
      parts[k].add(float(part.end - part.first) * p.group, simd_sum(sums[k]), simd_sum(squares[k]));
  }
  return {{parts[0].mean, parts[1].mean},
          {parts[0].inverse_deviation(p.epsilon), parts[1].inverse_deviation(p.epsilon)}};
}

template <bool streams, typename T>
void normalize_wide_in_turn(device const T* source, device T* result, device const float* gamma,
                            device const float* beta, constant GroupNormalization& p, uint2 group, uint place) {
  const auto slice = [&](uint image) {
    return Slice<T>(source, result, gamma, beta, p, min(image, p.source.images - 1), group.x * p.group, place);
  };
  const auto pair = [&](uint i) { return Pair<T>{{slice(2 * i), slice(2 * i + 1)}}; };
  const uint last = min((group.y + 1) * p.in_turn, (p.source.images + 1) / 2) - 1;
  uint i = group.y * p.in_turn;
  Normals normals = normalize_wide<Step::first, streams>(pair(i), pair(i), {}, p, place, i % 2 == 0);
  for (; i < last; ++i)
    normals = normalize_wide<Step::middle, streams>(pair(i), pair(i + 1), normals, p, place, i % 2 == 1);
  normalize_wide<Step::last, streams>(pair(i), pair(i), normals, p, place, i % 2 == 1);
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

// Sums of a part are of differences from the mean of the image up to there, as those of Parts, which at first is its
// first pixel.
template <uint rows, Step step, bool streams, typename T>
void take_pixels(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels own, uint first,
                 long ahead, uint place) {
  const ulong stride = p.source.pixel_stride, result_stride = p.result.pixel_stride;
  device const T *numbers = image.source + first * stride, *next_numbers = next + first * stride;
  device T* results = image.result + first * result_stride;
  if (step != Step::last)
    for_each_column(place, p.source.channels, [&](uint i) {
      const float mean = own.means[i];
      float sum = 0, squares = 0;
      for (uint k = 0; k < rows; ++k) {
        fetch_ahead(next_numbers + ahead + k * stride + i);
        const float difference = float(next_numbers[k * stride + i]) - mean;
        sum += difference;
        squares = fma(difference, difference, squares);
      }
      own.part_sums[i] += sum;
      own.part_squares[i] += squares;
    });
  if (step != Step::first)
    for (uint k = 0; k < rows; ++k)
      for_each_column(place, p.source.channels, [&](uint i) {
        put<streams>(results + k * result_stride + i,
                     T(fma(float(numbers[k * stride + i]) - own.centers[i], own.scales[i], image.beta[i])));
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
void normalize_image(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels all, uint place,
                     bool backward) {
  constexpr uint pixels_of_part = 64;
  const uint pixels = p.source.width, channels = p.source.channels;
  const long numbers_of_part = long(pixels_of_part) * p.source.pixel_stride;
  const long ahead = backward ? -numbers_of_part : numbers_of_part;
  const Channels own = all.at(place);
  for_each_column(place, channels, [&](uint i) {
    own.means[i] = float(next[i]);
    own.squares[i] = own.part_sums[i] = own.part_squares[i] = 0;
  });
  for (uint before = 0; before < pixels; before += pixels_of_part) {
    const PixelRange part(pixels, before, pixels_of_part, backward);
    uint x = part.first;
    for (; x + 4 <= part.end; x += 4) take_pixels<4, step, streams>(image, next, p, own, x, ahead, place);
    for (; x < part.end; ++x) take_pixels<1, step, streams>(image, next, p, own, x, ahead, place);
    if (step == Step::last) continue;
    const float count = part.end - part.first, share = count / (before + count), weight = before * share;
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
  const uint last = min((turn + 1) * p.in_turn, p.source.images) - 1;
  uint i = turn * p.in_turn;
  normalize_image<Step::first, T, streams>(image(i), image(i).source, p, channels, place, i % 2 == 0);
  for (; i < last; ++i)
    normalize_image<Step::middle, T, streams>(image(i), image(i + 1).source, p, channels, place, i % 2 == 1);
  normalize_image<Step::last, T, streams>(image(i), image(i).source, p, channels, place, i % 2 == 1);
}

#define GROUP_NORMALIZATION(T)                                                                                         \
  [[host_name("group_normalization_wide_" #T)]] kernel void group_normalization_wide_##T(                              \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const float* gamma [[buffer(2)]],   \
      device const float* beta [[buffer(3)]], constant GroupNormalization& p [[buffer(4)]],                            \
      uint2 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]]) {                      \
    if (fills_caches)                                                                                                  \
      normalize_wide_in_turn<true>(source, result, gamma, beta, p, group, place);                                      \
    else                                                                                                               \
      normalize_wide_in_turn<false>(source, result, gamma, beta, p, group, place);                                     \
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
