// MTGP32, the Mersenne twister for graphics processors of Saito and Matsumoto, with 351 words of state:
//   x[i + 351] = f(x[i], x[i + 1], x[i + pos]), and the number that is given is x[i + 351] tempered with x[i + pos - 1].
// A SIMD-group has a stream with a state of its own, and makes 32 words of it at once: no word needs the 258 before it.
// Streams take turns in blocks of 128 numbers. The state lies at the front of a longer run of words, and is moved back
// there, to words that are no longer needed, when its end is reached: lanes always read and write side by side.
#include "random.h"

constant constexpr uint words = 351, lanes = 32, steps = 4, room = words + 8 * steps * lanes;

struct Parameters {
  uint position, shift_1, shift_2;
  uint recursion[4], tempering[4];  // for each of four bits
};

struct Shape {
  uint streams, sets;
  uint columns, rows, matrices;
  uint blocks;        // of every stream
  uint is_dense;      // rows and matrices follow each other
  ulong row, matrix;  // strides
  Distribution distribution;
};

inline uint of_bits(uint x, constant uint* values) {
  return (x & 1 ? values[0] : 0) ^ (x & 2 ? values[1] : 0) ^ (x & 4 ? values[2] : 0) ^ (x & 8 ? values[3] : 0);
}

inline uint recursion(constant Parameters& p, uint x, uint next, uint other) {
  x = (x & 0xfff80000) ^ next;
  x ^= x << p.shift_1;
  const uint y = x ^ (other >> p.shift_2);
  return y ^ of_bits(y, p.recursion);
}

inline uint tempered(constant Parameters& p, uint x, uint other) {
  other ^= other >> 16;
  other ^= other >> 8;
  return x ^ of_bits(other, p.tempering);
}

#define RANDOM_MTGP32(T)                                                                                             \
  [[host_name("random_mtgp32_" #T)]] kernel void random_mtgp32_##T(                                                  \
      device T* result [[buffer(0)]], device uint* states [[buffer(1)]], constant Parameters* sets [[buffer(2)]],    \
      constant Shape& shape [[buffer(3)]], uint stream [[threadgroup_position_in_grid]],                             \
      uint lane [[thread_index_in_threadgroup]]) {                                                                   \
    threadgroup uint state[room];                                                                                    \
    constant Parameters& p = sets[stream % shape.sets];                                                              \
    device uint* saved = states + stream * words;                                                                    \
    for (uint i = lane; i < words; i += lanes) state[i] = saved[i];                                                  \
    threadgroup_barrier(mem_flags::mem_threadgroup);                                                                 \
    const ulong matrix_numbers = ulong(shape.rows) * shape.columns, count = matrix_numbers * shape.matrices;         \
    uint first = 0;                                                                                                  \
    for (uint block = 0; block < shape.blocks; ++block) {                                                            \
      if (first + words + steps * lanes > room) {                                                                    \
        for (uint i = lane; i < words; i += lanes) state[i] = state[first + i];                                      \
        threadgroup_barrier(mem_flags::mem_threadgroup);                                                             \
        first = 0;                                                                                                   \
      }                                                                                                              \
      uint4 bits;                                                                                                    \
      for (uint step = 0; step < steps; ++step, first += lanes) {                                                    \
        threadgroup uint* x = state + first;                                                                         \
        const uint made = recursion(p, x[lane], x[lane + 1], x[p.position + lane]);                                  \
        bits[step] = tempered(p, made, x[p.position - 1 + lane]);                                                    \
        x[words + lane] = made;                                                                                      \
        threadgroup_barrier(mem_flags::mem_threadgroup);                                                             \
      }                                                                                                              \
      const vec<T, 4> given = numbers(bits, shape.distribution, T(0));                                               \
      const ulong number = (ulong(block) * shape.streams + stream) * lanes * steps;                                  \
      for (uint step = 0; step < steps; ++step) {                                                                    \
        const ulong place = number + step * lanes;                                                                   \
        if (place + lane >= count) continue;                                                                         \
        if (shape.is_dense) {                                                                                        \
          result[place + lane] = given[step];                                                                        \
        } else {                                                                                                     \
          const ulong matrix = (place + lane) / matrix_numbers, in_matrix = (place + lane) % matrix_numbers;         \
          result[matrix * shape.matrix + in_matrix / shape.columns * shape.row + in_matrix % shape.columns] =        \
              given[step];                                                                                           \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
    for (uint i = lane; i < words; i += lanes) saved[i] = state[first + i];                                          \
  }
RANDOM_MTGP32(uint)
RANDOM_MTGP32(float)
