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

// scale * p * (gradient - the sum of all p gradient). Where p is 0, the gradient may be anything.
template <typename T>
kernel void softmax_gradient_kernel(device const T* probabilities [[buffer(0)]],
                                    device const T* gradient [[buffer(1)]], device T* result [[buffer(2)]],
                                    constant uint& columns [[buffer(3)]], constant float& scale [[buffer(4)]],
                                    uint row [[threadgroup_position_in_grid]],
                                    uint place [[thread_index_in_threadgroup]],
                                    uint threads [[threads_per_threadgroup]],
                                    uint simdgroup [[simdgroup_index_in_threadgroup]],
                                    uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  probabilities += ulong(row) * columns;
  gradient += ulong(row) * columns;
  result += ulong(row) * columns;
  float mean = 0;
  for (uint i = place; i < columns; i += threads)
    if (float(probabilities[i]) > 0) mean += float(probabilities[i]) * float(gradient[i]);
  mean = sum_over_threadgroup(mean, shared, simdgroup, simdgroups);
  for (uint i = place; i < columns; i += threads) {
    const float p = float(probabilities[i]);
    result[i] = T(p > 0 ? scale * p * (float(gradient[i]) - mean) : 0);
  }
}

#define SOFTMAX_GRADIENT(T)                                                                       \
  template [[host_name("softmax_gradient_kernel_" #T)]] kernel void softmax_gradient_kernel<T>(   \
      device const T*, device const T*, device T*, constant uint&, constant float&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(SOFTMAX_GRADIENT)
