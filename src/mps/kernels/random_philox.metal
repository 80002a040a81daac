// Random numbers in matrices: every thread has a counter of its own, and makes four of them.
#include "philox.h"

constant uint distribution [[function_constant(0)]];
constant constexpr uint distribution_uniform = 2, distribution_normal = 3;

struct Shape {
  ulong key, first_counter;
  uint columns, counters_per_row;
  ulong row, matrix;  // strides
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

inline uint4 numbers(uint4 bits, constant Shape&, uint) {
  return bits;
}

inline float4 numbers(uint4 bits, constant Shape& shape, float) {
  if (distribution == distribution_normal)
    return clamp(shape.mean + shape.standard_deviation * normal(bits), shape.minimum, shape.maximum);
  const float4 u = unit_interval(bits);
  if (distribution == distribution_uniform) {
    const float4 x = shape.minimum + u * (shape.maximum - shape.minimum);
    return select(x, float4(shape.minimum), x >= shape.maximum);  // which rounding could make of it
  }
  return u;
}

#define RANDOM_PHILOX(T)                                                                                         \
  [[host_name("random_philox_" #T)]] kernel void random_philox_##T(                                              \
      device T* result [[buffer(0)]], constant Shape& shape [[buffer(1)]],                                       \
      uint3 position [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {                             \
    const ulong row = ulong(position.z) * size.y + position.y;                                                   \
    const ulong counter = shape.first_counter + row * shape.counters_per_row + position.x;                       \
    const vec<T, 4> made = numbers(philox_numbers(counter, shape.key), shape, T(0));                                     \
    result += position.z * shape.matrix + position.y * shape.row;                                                \
    for (uint i = 0; i < 4; ++i)                                                                                 \
      if (4 * position.x + i < shape.columns) result[4 * position.x + i] = made[i];                              \
  }
RANDOM_PHILOX(uint)
RANDOM_PHILOX(float)
