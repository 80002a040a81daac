// Turns pairs of numbers of each head by an angle that grows with the token's position: i and i + half, or neighbours.
// The heads of up to two tensors, queries and keys, lie behind each other in the grid.
#include "numbers.h"

constant uint neighbours [[function_constant(0)]];

struct Turn {
  ulong first[2];  // where the tensors begin in their buffers
  uint pairs, size, position;
  uint heads[2];
};

template <typename T>
kernel void rope_kernel(device T* x_0 [[buffer(0)]], device T* x_1 [[buffer(1)]],
                        device const float* frequencies [[buffer(2)]], constant Turn& turn [[buffer(3)]],
                        uint3 place [[thread_position_in_grid]]) {
  const bool is_second = place.y >= turn.heads[0];
  const uint head = is_second ? place.y - turn.heads[0] : place.y, heads = turn.heads[is_second];
  device T* numbers =
      (is_second ? x_1 + turn.first[1] : x_0 + turn.first[0]) + (ulong(place.z) * heads + head) * turn.size;
  const float angle = float(turn.position + place.z) * frequencies[place.x];
  const float c = cos(angle), s = sin(angle);
  const uint first = neighbours ? 2 * place.x : place.x, second = neighbours ? first + 1 : first + turn.pairs;
  const float a = float(numbers[first]), b = float(numbers[second]);
  numbers[first] = T(a * c - b * s);
  numbers[second] = T(a * s + b * c);
}

#define ROPE(T)                                                                                               \
  template [[host_name("rope_kernel_" #T)]] kernel void rope_kernel<T>(device T*, device T*, device const float*, \
                                                                       constant Turn&, uint3);
METAL_EACH_FLOAT(ROPE)
