// Instance and group normalization in one step, for CPUs and images that fit their caches: what a SIMD-group finds means
// and variances of, it normalizes while it is near. Memory is read once and written once.
//
// A SIMD-group has several images in turn: while the results of one leave, statistics are made of the next, so that
// memory is read and written at the same time. The numbers of a wide group are shared by all threads, and steps go
// forward and backward in turn: what the step before read last is still in the caches, and results of it are given first.
// Of other images a thread has some channels, and one number leaves for each that comes.
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

  PixelRange(uint pixels, uint before, uint most, bool backward = false) {
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

// Pixels of a part. Sums are of differences from the mean of the image up to there, as those of Parts, which at first is
// its first pixel. Those of a few channels, so many for each thread, stay in registers.
template <uint columns, Step step, bool streams, typename T>
void take_few_channels(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels own,
                       PixelRange part) {
  float means[columns], sums[columns], squares[columns], centers[columns], scales[columns], betas[columns];
  for (uint k = 0; k < columns; ++k) {
    means[k] = own.means[32 * k];
    sums[k] = squares[k] = 0;
    centers[k] = own.centers[32 * k];
    scales[k] = own.scales[32 * k];
    betas[k] = image.beta[32 * k];
  }
  for (uint x = part.first; x < part.end; ++x)
    for (uint k = 0; k < columns; ++k) {
      const ulong from = x * ulong(p.source.pixel_stride) + 32 * k, to = x * ulong(p.result.pixel_stride) + 32 * k;
      if (step != Step::last) {
        fetch_stream<streams>(next + from);
        const float difference = float(next[from]) - means[k];
        sums[k] += difference;
        squares[k] = fma(difference, difference, squares[k]);
      }
      if (step != Step::first)
        put<streams>(image.result + to, T(fma(float(image.source[from]) - centers[k], scales[k], betas[k])));
    }
  if (step != Step::last)
    for (uint k = 0; k < columns; ++k) {
      own.part_sums[32 * k] = sums[k];
      own.part_squares[32 * k] = squares[k];
    }
}

template <Step step, bool streams, typename T>
void take_many_channels(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels own,
                        PixelRange part, uint place) {
  if (step != Step::last)
    for_each_column(place, p.source.channels, [&](uint i) { own.part_sums[i] = own.part_squares[i] = 0; });
  for (uint x = part.first; x < part.end; ++x) {
    const ulong from = x * ulong(p.source.pixel_stride), to = x * ulong(p.result.pixel_stride);
    for_each_column(place, p.source.channels, [&](uint i) {
      if (step != Step::last) {
        const float difference = float(next[from + i]) - own.means[i];
        own.part_sums[i] += difference;
        own.part_squares[i] = fma(difference, difference, own.part_squares[i]);
      }
      if (step != Step::first)
        put<streams>(image.result + to + i,
                     T(fma(float(image.source[from + i]) - own.centers[i], own.scales[i], image.beta[i])));
    });
  }
}

// Of a thread's group, whose channels are its neighbours'.
inline float sum_of_neighbours(float x, uint group) {
  for (uint distance = group / 2; distance > 0; distance /= 2) x += simd_shuffle_xor(x, distance);
  return x;
}

// What channels' numbers become, of the means and variances of their groups. Groups of 1, 2, 4, ... or 32 channels are
// found where their threads are; others take the place of parts' sums.
template <typename T>
void combine(Slice<T> image, constant GroupNormalization& p, Channels all, uint place) {
  const float pixels = p.source.width, numbers = pixels * p.group;
  const Channels own = all.at(place);
  if (32 % p.group == 0)
    return for_each_column(place, p.source.channels, [&](uint i) {
      const float average = sum_of_neighbours(own.means[i], p.group) / p.group, difference = own.means[i] - average;
      const float squares = sum_of_neighbours(fma(pixels * difference, difference, own.squares[i]), p.group);
      own.centers[i] = average;
      own.scales[i] = image.gamma[i] / sqrt(squares / numbers + p.epsilon);
    });

  simdgroup_barrier(mem_flags::mem_threadgroup);
  for (uint group = place; group < p.source.channels / p.group; group += 32) {
    const uint first = group * p.group;
    float sum = 0, squares = 0;
    for (uint i = first; i < first + p.group; ++i) sum += all.means[i];
    const float average = sum / p.group;
    for (uint i = first; i < first + p.group; ++i) {
      const float difference = all.means[i] - average;
      squares += all.squares[i] + pixels * difference * difference;
    }
    all.part_sums[group] = average;
    all.part_squares[group] = squares / numbers;
  }
  simdgroup_barrier(mem_flags::mem_threadgroup);
  for_each_column(place, p.source.channels, [&](uint i) {
    const uint group = (i + place) / p.group;
    own.centers[i] = all.part_sums[group];
    own.scales[i] = image.gamma[i] / sqrt(all.part_squares[group] + p.epsilon);
  });
  simdgroup_barrier(mem_flags::mem_threadgroup);
}

template <Step step, typename T, bool streams>
void normalize_image(Slice<T> image, device const T* next, constant GroupNormalization& p, Channels all, uint place) {
  const uint pixels = p.source.width, channels = p.source.channels;
  const Channels own = all.at(place);
  for_each_column(place, channels, [&](uint i) {
    own.means[i] = float(next[i]);
    own.squares[i] = 0;
  });
  uint pixels_of_part = 8;  // of the first: all may lie far from its first pixel
  for (uint before = 0; before < pixels; before += pixels_of_part, pixels_of_part = 64) {
    const PixelRange part(pixels, before, pixels_of_part);
    if (channels == 32)
      take_few_channels<1, step, streams>(image, next, p, own, part);
    else if (channels == 64)
      take_few_channels<2, step, streams>(image, next, p, own, part);
    else
      take_many_channels<step, streams>(image, next, p, own, part, place);
    if (step == Step::last) continue;
    const float count = part.end - part.first, share = count / (before + count), weight = before * share;
    for_each_column(place, channels, [&](uint i) {
      const float sum = own.part_sums[i], difference = sum / count;
      own.means[i] = fma(difference, share, own.means[i]);
      own.squares[i] += fma(difference * difference, weight, own.part_squares[i] - sum * difference);
    });
  }
  if (step != Step::last) combine(image, p, all, place);
}

template <typename T, bool streams>
void normalize_images_in_turn(device const T* source, device T* result, device const float* gamma,
                              device const float* beta, constant GroupNormalization& p, Channels channels, uint turn,
                              uint place) {
  const auto image = [&](uint i) { return Slice<T>(source, result, gamma, beta, p, i, 0, place); };
  const uint last = min((turn + 1) * p.in_turn, p.source.images) - 1;
  uint i = turn * p.in_turn;
  normalize_image<Step::first, T, streams>(image(i), image(i).source, p, channels, place);
  for (; i < last; ++i)
    normalize_image<Step::middle, T, streams>(image(i), image(i + 1).source, p, channels, place);
  normalize_image<Step::last, T, streams>(image(i), image(i).source, p, channels, place);
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
