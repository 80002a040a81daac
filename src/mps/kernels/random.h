// From a generator's bits, four numbers at a time, to those of a distribution.
#pragma once

#include "types.h"

constant uint distribution [[function_constant(0)]];
constant constexpr uint distribution_uniform = 2, distribution_normal = 3;

struct Distribution {
  float minimum, maximum, mean, standard_deviation;
};

// [0, 1) in steps of 2^-24.
inline float4 unit_interval(uint4 bits) {
  return float4(bits >> 8) * 0x1p-24f;
}

// Pairs of normal numbers from pairs of uniform ones, by Box and Muller.
inline float4 normal(uint4 bits) {
  const float4 u = unit_interval(bits);
  const float2 radius = sqrt(-2 * log(1 - u.xz)), angle = 2 * M_PI_F * u.yw;
  return float4(radius.x * cos(angle.x), radius.x * sin(angle.x), radius.y * cos(angle.y), radius.y * sin(angle.y));
}

inline uint4 numbers(uint4 bits, constant Distribution&, uint) {
  return bits;
}

inline float4 numbers(uint4 bits, constant Distribution& d, float) {
  if (distribution == distribution_normal)
    return clamp(d.mean + d.standard_deviation * normal(bits), d.minimum, d.maximum);
  const float4 u = unit_interval(bits);
  if (distribution == distribution_uniform) {
    const float4 x = d.minimum + u * (d.maximum - d.minimum);
    return select(x, float4(d.minimum), x >= d.maximum);  // which rounding could make of it
  }
  return u;
}
