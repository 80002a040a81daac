// Images with more around them, and the gradient of that, which is gathered: each number of the source looks at the
// places that show it. A SIMD-group has neighbouring channels of one pixel.
#include "image.h"

constant uint has_fill_values [[function_constant(0)]];

struct Pad {
  ImageTensor source, result;
  int x, y, channel;  // of the result's first number in the source
  uint edge;
  float fill;
};

constant constexpr uint edge_constant = 4;

// The places of an axis that show a number of the source: from `first` on, then `gap` and `period - gap` further by
// turns, up to `end`.
struct Shown {
  int first, end, gap, period;
};

inline int remainder_of(int x, int period) {
  return (x % period + period) % period;
}

// `offset` is the first place's in the source, which has `size` numbers along the axis; there are `count` places.
inline Shown shown(int number, int offset, int size, int count, uint edge) {
  const int place = number - offset;
  if (number >= size) return {0, 0, 1, 2};
  if ((edge == edge_mirror && size > 1) || edge == edge_mirror_with_edge) {
    const int period = edge == edge_mirror ? 2 * size - 2 : 2 * size;
    const int mirrored = (edge == edge_mirror ? period : period - 1) - number;
    const int one = remainder_of(place, period), other = remainder_of(mirrored - offset, period);
    if (one == other) return {one, count, period, 2 * period};
    return {min(one, other), count, abs(one - other), period};
  }
  const bool goes_on = edge == edge_clamp || edge == edge_mirror;
  const int first = goes_on && number == 0 ? 0 : max(place, 0);
  return {first, goes_on && number == size - 1 ? count : min(place + 1, count), 1, 2};
}

#define FOR_EACH_PLACE(i, axis) for (int i = axis.first, i##_gap = axis.gap; i < axis.end; \
                                     i += i##_gap, i##_gap = axis.period - i##_gap)

#define PAD(T)                                                                                                    \
  [[host_name("pad_" #T)]] kernel void pad_##T(                                                                   \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]],                                       \
      device const float* fill_values [[buffer(2)]], constant Pad& p [[buffer(3)]],                               \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint channel = position.x, row = position.z % p.result.height, image = position.z / p.result.height;    \
    const int x = inside(int(position.y) + p.x, p.source.width, p.edge);                                          \
    const int y = inside(int(row) + p.y, p.source.height, p.edge);                                                \
    const bool keeps_channels = p.channel == 0 && p.result.channels <= p.source.channels;                         \
    const int from = keeps_channels ? int(channel) : inside(int(channel) + p.channel, p.source.channels, p.edge); \
    float value = p.edge != edge_constant ? 0 : p.fill;                                                           \
    if (has_fill_values && p.edge == edge_constant) value = fill_values[channel];                                 \
    if (x >= 0 && y >= 0 && from >= 0)                                                                            \
      value = source[image * p.source.image_stride + ulong(y) * p.source.row_stride + x * p.source.pixel_stride + \
                     from];                                                                                       \
    result[image * p.result.image_stride + ulong(row) * p.result.row_stride +                                     \
           position.y * p.result.pixel_stride + channel] = T(value);                                              \
  }                                                                                                               \
  [[host_name("pad_gradient_" #T)]] kernel void pad_gradient_##T(                                                 \
      device const T* gradient [[buffer(0)]], device T* of_source [[buffer(1)]], constant Pad& p [[buffer(2)]],   \
      constant ImageTensor& part [[buffer(3)]], constant uint2& origin [[buffer(4)]],                             \
      uint3 position [[thread_position_in_grid]]) {                                                               \
    const uint channel = position.x, row = position.z % part.height, image = position.z / part.height;            \
    const Shown columns = shown(int(position.y + origin.x), p.x, p.source.width, p.result.width, p.edge);         \
    const Shown rows = shown(int(row + origin.y), p.y, p.source.height, p.result.height, p.edge);                 \
    const Shown channels = shown(int(channel), p.channel, p.source.channels, p.result.channels, p.edge);          \
    gradient += image * p.result.image_stride;                                                                    \
    float sum = 0;                                                                                                \
    FOR_EACH_PLACE(y, rows)                                                                                       \
    FOR_EACH_PLACE(x, columns)                                                                                    \
    FOR_EACH_PLACE(c, channels)                                                                                   \
    sum += float(gradient[ulong(y) * p.result.row_stride + x * p.result.pixel_stride + c]);                       \
    of_source[image * part.image_stride + ulong(row) * part.row_stride + position.y * part.pixel_stride +         \
              channel] = T(sum);                                                                                  \
  }
PAD(float)
PAD(half)
