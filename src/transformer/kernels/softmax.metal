// exp(x - largest) / total, a threadgroup for each row. The largest and the total are found in one pass: a thread that
// meets a larger number scales down what it has summed up.
#include "numbers.h"

template <typename T>
kernel void softmax_kernel(device const T* x [[buffer(0)]], device T* result [[buffer(1)]],
                           constant uint& columns [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                           uint place [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]],
                           uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  x += ulong(row) * columns;
  result += ulong(row) * columns;
  float largest = -INFINITY, sum = 0;
  for (uint i = place; i < columns; i += threads) {
    const float value = float(x[i]), larger = max(largest, value);
    if (larger > -INFINITY) sum = sum * exp(largest - larger) + exp(value - larger);
    largest = larger;
  }
  const float top = max_over_threadgroup(largest, shared, simdgroup, simdgroups);
  sum = sum_over_threadgroup(largest > -INFINITY ? sum * exp(largest - top) : 0, shared, simdgroup, simdgroups);
  const float factor = 1 / sum;
  for (uint i = place; i < columns; i += threads) result[i] = T(exp(float(x[i]) - top) * factor);
}

#define SOFTMAX(T)                                                                                          \
  template [[host_name("softmax_kernel_" #T)]] kernel void softmax_kernel<T>(device const T*, device T*,    \
                                                                             constant uint&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(SOFTMAX)
