// Functions that stay functions because there would be too much code with all of them inlined: lanes call them by
// themselves, in whatever way arguments get there.
#include <metal_stdlib>
using namespace metal;

struct State {
  uint words[8];
  float weight;
};

// Some of the calls are made, as bits say: few at run time, of 4^10 in the code.
template <int level>
static State stirred(State state, thread uint& calls, ulong bits) {
  calls += level;
  for (uint i = 0; i < 8; ++i) state.words[i] = rotate(state.words[i] ^ state.words[(i + 3) % 8], uint(level + i)) + calls;
  state.weight = fma(state.weight, 0.5f, float(level));
  if (bits & 1) state = stirred<level - 1>(state, calls, bits >> 3);
  if (bits & 2) state = stirred<level - 1>(state, calls, bits >> 4);
  if ((bits & 12) == 4) state = stirred<level - 1>(state, calls, bits >> 5);
  if ((bits & 12) == 8) state = stirred<level - 1>(state, calls, ~bits);
  return state;
}
template <>
State stirred<0>(State state, thread uint& calls, ulong bits) {
  state.words[bits % 8] += ++calls;
  return state;
}

static State start(device const uint* in, uint i) {
  State state;
  for (uint j = 0; j < 8; ++j) state.words[j] = in[i] * (j + 1);
  state.weight = float(in[i] % 100);
  return state;
}
static uint folded(State state) {
  uint x = uint(state.weight);
  for (uint i = 0; i < 8; ++i) x = x * 31 + state.words[i];
  return x;
}

//@ buffer uint random N
//@ buffer uint zeros 2N
//@ grid 50x3 group 16x2
kernel void stir(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                 uint3 grid [[threads_per_grid]]) {
  const uint i = at.x + grid.x * (at.y + grid.y * at.z);
  State state = start(in, i);
  uint calls = 0;
  if (in[i] % 5 != 0) state = stirred<10>(state, calls, in[i] * 0x9E3779B97F4A7C15ul);
  out[2 * i] = folded(state);
  out[2 * i + 1] = calls;
}

// Lanes are together again behind what each did by itself.
//@ buffer uint random N
//@ buffer uint zeros N
//@ grid 100 group 48
kernel void stir_with_neighbours(device const uint* in, device uint* out, uint3 at [[thread_position_in_grid]],
                                 uint local [[thread_index_in_threadgroup]]) {
  threadgroup uint shared[1024];
  State state = start(in, at.x);
  uint calls = 0;
  if (in[at.x] & 1) state = stirred<10>(state, calls, in[at.x]);
  shared[local] = simd_sum(folded(state));
  threadgroup_barrier(mem_flags::mem_threadgroup);
  state.words[0] ^= shared[local / 2];
  if (in[at.x] & 2) state = stirred<10>(state, calls, ulong(in[at.x]) << 17);
  out[at.x] = simd_max(folded(state)) + simd_prefix_inclusive_sum(calls);
}
