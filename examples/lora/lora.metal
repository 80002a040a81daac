// A low-rank update, y = scale * (x A) B, where A has few columns, in one kernel: x A never leaves the chip. How long
// rows are is known when the pipeline is made.
#include <metal_stdlib>

using namespace metal;

constant uint inputs [[function_constant(0)]];
constant uint outputs [[function_constant(1)]];
constant constexpr uint rank = 8;

// A SIMD-group has a row of x: first the `rank` dot products with A's columns, then the row of y.
template <typename T>
void lora_row(device const T* x, device const T* a, device const T* b, device T* y, float scale, uint row, uint lane) {
  x += ulong(row) * inputs;
  y += ulong(row) * outputs;

  float low[rank] = {};
  for (uint i = lane; i < inputs; i += 32) {
    const float value = x[i];
    for (uint r = 0; r < rank; ++r) low[r] += value * float(a[i * rank + r]);
  }
  for (uint r = 0; r < rank; ++r) low[r] = scale * simd_sum(low[r]);

  for (uint j = lane; j < outputs; j += 32) {
    float sum = 0;
    for (uint r = 0; r < rank; ++r) sum += low[r] * float(b[r * outputs + j]);
    y[j] = T(sum);
  }
}

#define LORA(T)                                                                                                       \
  [[host_name("lora_" #T)]] kernel void lora_##T(                                                                     \
      device const T* x [[buffer(0)]], device const T* a [[buffer(1)]], device const T* b [[buffer(2)]],              \
      device T* y [[buffer(3)]], constant float& scale [[buffer(4)]], uint row [[threadgroup_position_in_grid]],      \
      uint lane [[thread_index_in_simdgroup]]) {                                                                      \
    lora_row(x, a, b, y, scale, row, lane);                                                                           \
  }
LORA(float)
LORA(half)
LORA(bfloat)

// For GPUs with much to do at once, and rows of a multiple of eight numbers: a threadgroup has a row, a thread eight
// numbers of it in each access, and B's first are on their way while the threadgroup makes x A.
constant constexpr uint threads = 256, simdgroups = threads / 32;

template <typename T>
struct Eight {
  vec<T, 4> first, second;
};

// Calls work(j) for the threadgroup's share of 0 ..< count. No thread asks whether it is one of the last until all of them
// have had theirs as often as they could, so that reads need not wait for an answer.
template <typename Work>
void for_each_of_thread(uint count, uint i, Work work) {
  const uint turns = count / threads;
  for (uint turn = 0; turn < turns; ++turn) work(turn * threads + i);
  if (count % threads != 0 && turns * threads + i < count) work(turns * threads + i);
}

template <typename T>
void lora_row_in_eights(device const Eight<T>* x, device const Eight<T>* a, device const Eight<T>* b,
                        device Eight<T>* y, float scale, uint row, uint i, uint lane, uint simdgroup,
                        threadgroup float (&partial)[simdgroups][rank]) {
  x += ulong(row) * (inputs / 8);
  y += ulong(row) * (outputs / 8);
  float4 low[2] = {0, 0};
  for_each_of_thread(inputs / 8, i, [&](uint j) {
    const Eight<T> own = x[j];
    #pragma unroll
    for (uint k = 0; k < 8; ++k) {
      const Eight<T> of_a = a[j * 8 + k];
      const float value = float(k < 4 ? own.first[k % 4] : own.second[k % 4]);
      low[0] = fma(value, float4(of_a.first), low[0]);
      low[1] = fma(value, float4(of_a.second), low[1]);
    }
  });
  Eight<T> of_b[rank];
  if (outputs / 8 >= threads || i < outputs / 8) {
    #pragma unroll
    for (uint r = 0; r < rank; ++r) of_b[r] = b[r * (outputs / 8) + i];
  }
  #pragma unroll
  for (uint r = 0; r < rank; ++r) {
    const float sum = simd_sum(low[r / 4][r % 4]);
    if (lane == 0) partial[simdgroup][r] = sum;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  float sums[rank];
  #pragma unroll
  for (uint r = 0; r < rank; ++r) {
    sums[r] = 0;
    #pragma unroll
    for (uint k = 0; k < simdgroups; ++k) sums[r] += partial[k][r];
    sums[r] *= scale;
  }
  for_each_of_thread(outputs / 8, i, [&](uint j) {
    float4 first = 0, second = 0;
    #pragma unroll
    for (uint r = 0; r < rank; ++r) {
      if (j != i) of_b[r] = b[r * (outputs / 8) + j];
      first = fma(sums[r], float4(of_b[r].first), first);
      second = fma(sums[r], float4(of_b[r].second), second);
    }
    y[j] = {vec<T, 4>(first), vec<T, 4>(second)};
  });
}

#define LORA_IN_EIGHTS(T)                                                                                             \
  [[host_name("lora_in_eights_" #T)]] kernel void lora_in_eights_##T(                                                 \
      device const Eight<T>* x [[buffer(0)]], device const Eight<T>* a [[buffer(1)]],                                 \
      device const Eight<T>* b [[buffer(2)]], device Eight<T>* y [[buffer(3)]], constant float& scale [[buffer(4)]],  \
      uint row [[threadgroup_position_in_grid]], uint i [[thread_position_in_threadgroup]],                           \
      uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {                   \
    threadgroup float partial[simdgroups][rank];                                                                      \
    lora_row_in_eights(x, a, b, y, scale, row, i, lane, simdgroup, partial);                                          \
  }
LORA_IN_EIGHTS(float)
LORA_IN_EIGHTS(half)
LORA_IN_EIGHTS(bfloat)
