// Images in another size. Places in the source are fractions of whole numbers, so that pixels that fall on each other do
// so exactly. A gradient is gathered: each source pixel looks at the results that it has a share in. A SIMD-group has
// neighbouring channels of one pixel.
#include "image.h"

constant uint is_nearest [[function_constant(0)]];

// Result i is at offset + i * step / size in the source.
struct Axis {
  int offset;
  uint step, size;
};

struct Resample {
  ImageTensor source, result;
  Axis x, y;
};

// The two pixels of the source that a result is made of, and the share of the second.
struct Taps {
  int first, second;
  float share;

  float share_of(int pixel) const thread {
    return (pixel == first ? 1 - share : 0) + (pixel == second ? share : 0);
  }
};

inline Taps taps_of(uint i, constant Axis& axis, uint source_size) {
  const uint place = i * axis.step;
  const int last = int(source_size) - 1, whole = axis.offset + int(place / axis.size);
  const bool is_between = !is_nearest && whole >= 0 && whole < last;
  const int first = clamp(whole, 0, last);
  return {first, is_between ? first + 1 : first, is_between ? float(place % axis.size) / axis.size : 0};
}

// The results that may have a source pixel among their taps.
inline uint2 results_of(int pixel, constant Axis& axis, uint source_size, uint result_size) {
  if (axis.step == 0) return uint2(0, result_size);
  const uint before = max(pixel - 1 - axis.offset, 0), after = max(pixel + 1 - axis.offset, 0);
  const uint first = before * axis.size / axis.step, end = after * axis.size / axis.step + 1;
  return uint2(pixel == 0 ? 0 : min(first, result_size),
               pixel == int(source_size) - 1 ? result_size : min(end, result_size));
}

#define RESAMPLE(T)                                                                                               \
  [[host_name("resample_" #T)]] kernel void resample_##T(                                                         \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Resample& p [[buffer(2)]],   \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint channel = position.x, column = position.y;                                                         \
    const uint row = position.z % p.result.height, image = position.z / p.result.height;                          \
    const Taps x = taps_of(column, p.x, p.source.width), y = taps_of(row, p.y, p.source.height);                  \
    source += image * p.source.image_stride;                                                                      \
    device const T* above = source + ulong(y.first) * p.source.row_stride;                                        \
    device const T* below = source + ulong(y.second) * p.source.row_stride;                                       \
    const uint left = x.first * p.source.pixel_stride, right = x.second * p.source.pixel_stride;                  \
    const float top = mix(float(above[left + channel]), float(above[right + channel]), x.share);                  \
    const float bottom = mix(float(below[left + channel]), float(below[right + channel]), x.share);               \
    result[image * p.result.image_stride + ulong(row) * p.result.row_stride + column * p.result.pixel_stride +    \
           channel] = T(mix(top, bottom, y.share));                                                               \
  }                                                                                                               \
  [[host_name("resample_gradient_" #T)]] kernel void resample_gradient_##T(                                       \
      device const T* gradient [[buffer(0)]], device T* of_source [[buffer(1)]],                                  \
      constant Resample& p [[buffer(2)]], constant ImageTensor& part [[buffer(3)]],                               \
      constant uint2& origin [[buffer(4)]], uint3 position [[thread_position_in_grid]]) {                         \
    const uint channel = position.x, row = position.z % part.height, image = position.z / part.height;            \
    const int x = int(position.y + origin.x), y = int(row + origin.y);                                            \
    const uint2 columns = results_of(x, p.x, p.source.width, p.result.width);                                     \
    const uint2 rows = results_of(y, p.y, p.source.height, p.result.height);                                      \
    gradient += image * p.result.image_stride;                                                                    \
    float sum = 0;                                                                                                \
    for (uint j = rows.x; j < rows.y; ++j) {                                                                      \
      const float of_row = taps_of(j, p.y, p.source.height).share_of(y);                                          \
      if (of_row == 0) continue;                                                                                  \
      device const T* numbers = gradient + ulong(j) * p.result.row_stride;                                        \
      for (uint i = columns.x; i < columns.y; ++i)                                                                \
        sum = fma(of_row * taps_of(i, p.x, p.source.width).share_of(x),                                           \
                  float(numbers[i * p.result.pixel_stride + channel]), sum);                                      \
    }                                                                                                             \
    of_source[image * part.image_stride + ulong(row) * part.row_stride + position.y * part.pixel_stride +         \
              channel] = T(sum);                                                                                  \
  }
RESAMPLE(float)
RESAMPLE(half)
