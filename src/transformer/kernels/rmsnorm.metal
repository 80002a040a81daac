// x / sqrt(mean(x²) + epsilon) * weights, a threadgroup for each row: its threads sum up squares, and all of them learn
// the total.
#include "numbers.h"

constant uint weights_are_float [[function_constant(0)]];

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
  for (uint i = place; i < columns; i += threads) {
    const float weight = weights_are_float ? ((device const float*)weights)[i] : float(((device const T*)weights)[i]);
    result[i] = T(float(x[i]) * factor * weight);
  }
}

#define RMSNORM(T)                                                                                                  \
  template [[host_name("rmsnorm_kernel_" #T)]] kernel void rmsnorm_kernel<T>(                                       \
      device const T*, device const void*, device T*, constant uint&, constant float&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(RMSNORM)
