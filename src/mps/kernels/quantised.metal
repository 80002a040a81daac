// What the numbers of a quantised array stand for.
#include "types.h"

constant uint bits [[function_constant(0)]];  // 4 or 8
constant uint has_sign [[function_constant(1)]];
constant uint is_table [[function_constant(2)]];
constant uint has_zero_point [[function_constant(3)]];
constant uint has_minimum [[function_constant(4)]];
constant uint has_implicit_zero_point [[function_constant(5)]];

struct Dequantisation {
  uint dimensions;
  uint lengths[16];
  uint blocks[16];       // how many numbers share a scale
  long from[16], to[16];  // strides, in numbers
  long scales[16];
};

kernel void dequantise(device const uchar* from [[buffer(0)]], device float* to [[buffer(1)]],
                       device const float* scales [[buffer(2)]], device const float* zero_points [[buffer(3)]],
                       device const float* minima [[buffer(4)]], constant Dequantisation& shape [[buffer(5)]],
                       uint3 position [[thread_position_in_grid]]) {
  if (position.x >= shape.lengths[0]) return;
  long source = 0, target = 0, scale = 0;
  uint rest = position.z;
  for (uint i = 0; i < shape.dimensions; ++i) {
    uint place = i == 0 ? position.x : position.y;
    if (i >= 2) {
      place = rest % shape.lengths[i];
      rest /= shape.lengths[i];
    }
    source += place * shape.from[i];
    target += place * shape.to[i];
    scale += place / shape.blocks[i] * shape.scales[i];
  }
  const uint stored = bits == 4 ? from[source / 2] >> (source % 2 * 4) & 15 : from[source];
  if (is_table) {
    to[target] = scales[stored];
    return;
  }
  int number = int(stored);
  const int half_range = 1 << (bits - 1);
  if (has_sign && has_implicit_zero_point) number -= half_range;
  else if (has_sign && number >= half_range) number -= 2 * half_range;
  float value = float(number);
  if (has_zero_point) value -= zero_points[scale];
  value *= scales[scale];
  to[target] = has_minimum ? value + minima[scale] : value;
}
