// x / sqrt(mean(x²) + epsilon) * weights, a threadgroup for each row: its threads sum up squares, and all of them learn
// the total.
#include "numbers.h"

constant uint weights_are_float [[function_constant(0)]];

template <typename T>
float norm_weight(device const void* weights, uint i) {
  return weights_are_float ? ((device const float*)weights)[i] : float(((device const T*)weights)[i]);
}

template <typename T>
kernel void rmsnorm_kernel(device const T* x [[buffer(0)]], device const void* weights [[buffer(1)]],
                           device T* result [[buffer(2)]], constant uint& columns [[buffer(3)]],
                           constant float& epsilon [[buffer(4)]], uint row [[threadgroup_position_in_grid]],
                           uint place [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]],
                           uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  x += ulong(row) * columns;
  result += ulong(row) * columns;
  float squares = 0;
  for (uint i = place; i < columns; i += threads) squares += float(x[i]) * float(x[i]);
  const float factor = rsqrt(sum_over_threadgroup(squares, shared, simdgroup, simdgroups) / columns + epsilon);
  for (uint i = place; i < columns; i += threads)
    result[i] = T(float(x[i]) * factor * norm_weight<T>(weights, i));
}

#define RMSNORM(T)                                                                                                  \
  template [[host_name("rmsnorm_kernel_" #T)]] kernel void rmsnorm_kernel<T>(                                       \
      device const T*, device const void*, device T*, constant uint&, constant float&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(RMSNORM)

// The gradient of x. With r = 1 / sqrt(mean(x²) + epsilon) it is r weights gradient - x r³ mean(weights gradient x).
constant uint adds [[function_constant(1)]];

template <typename T>
kernel void rmsnorm_gradient_kernel(device const T* x [[buffer(0)]], device const void* weights [[buffer(1)]],
                                    device const T* gradient [[buffer(2)]], device T* result [[buffer(3)]],
                                    constant uint& columns [[buffer(4)]], constant float& epsilon [[buffer(5)]],
                                    uint row [[threadgroup_position_in_grid]],
                                    uint place [[thread_index_in_threadgroup]],
                                    uint threads [[threads_per_threadgroup]],
                                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  x += ulong(row) * columns;
  gradient += ulong(row) * columns;
  result += ulong(row) * columns;
  float squares = 0, along = 0;
  for (uint i = place; i < columns; i += threads) {
    const float value = float(x[i]);
    squares += value * value;
    along += value * norm_weight<T>(weights, i) * float(gradient[i]);
  }
  const float r = rsqrt(sum_over_threadgroup(squares, shared, simdgroup, simdgroups) / columns + epsilon);
  along = sum_over_threadgroup(along, shared, simdgroup, simdgroups) * r * r * r / columns;
  for (uint i = place; i < columns; i += threads) {
    float value = r * norm_weight<T>(weights, i) * float(gradient[i]) - along * float(x[i]);
    if (adds) value += float(result[i]);
    result[i] = T(value);
  }
}

#define RMSNORM_GRADIENT(T)                                                                                      \
  template [[host_name("rmsnorm_gradient_kernel_" #T)]] kernel void rmsnorm_gradient_kernel<T>(                  \
      device const T*, device const void*, device const T*, device T*, constant uint&, constant float&, uint, uint, \
      uint, uint, uint);
METAL_EACH_FLOAT(RMSNORM_GRADIENT)
