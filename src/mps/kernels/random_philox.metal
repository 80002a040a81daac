// Random numbers in matrices: every thread has a counter of its own, and makes four of them.
#include "philox.h"
#include "random.h"

struct Shape {
  ulong key, first_counter;
  uint columns, counters_per_row;
  ulong row, matrix;  // strides
  Distribution distribution;
};

#define RANDOM_PHILOX(T)                                                                                         \
  [[host_name("random_philox_" #T)]] kernel void random_philox_##T(                                              \
      device T* result [[buffer(0)]], constant Shape& shape [[buffer(1)]],                                       \
      uint3 position [[thread_position_in_grid]], uint3 size [[threads_per_grid]]) {                             \
    const ulong row = ulong(position.z) * size.y + position.y;                                                   \
    const ulong counter = shape.first_counter + row * shape.counters_per_row + position.x;                       \
    const vec<T, 4> made = numbers(philox_numbers(counter, shape.key), shape.distribution, T(0));         \
    result += position.z * shape.matrix + position.y * shape.row;                                                \
    for (uint i = 0; i < 4; ++i)                                                                                 \
      if (4 * position.x + i < shape.columns) result[4 * position.x + i] = made[i];                              \
  }
RANDOM_PHILOX(uint)
RANDOM_PHILOX(float)
