// -log softmax(row)[target] of each row of logits, and its gradient, scale * (softmax - 1 at the target); a threadgroup
// for each row. A target that is no column counts for nothing. The gradient may lie where the logits are, so that each
// thread reads a logit before it writes there, and nobody else's.
#include "numbers.h"

constant uint wants_gradient [[function_constant(0)]];

template <typename T>
kernel void cross_entropy_kernel(device const T* logits [[buffer(0)]], device const int* targets [[buffer(1)]],
                                 device float* losses [[buffer(2)]], device T* gradient [[buffer(3)]],
                                 constant uint& columns [[buffer(4)]], constant float& scale [[buffer(5)]],
                                 uint row [[threadgroup_position_in_grid]],
                                 uint place [[thread_index_in_threadgroup]],
                                 uint threads [[threads_per_threadgroup]],
                                 uint simdgroup [[simdgroup_index_in_threadgroup]],
                                 uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  logits += ulong(row) * columns;
  gradient += wants_gradient ? ulong(row) * columns : 0;
  const uint target = uint(targets[row]);
  if (target >= columns) {
    if (place == 0) losses[row] = 0;
    if (wants_gradient)
      for (uint i = place; i < columns; i += threads) gradient[i] = T(0);
    return;
  }
  float largest = -INFINITY, sum = 0;
  for (uint i = place; i < columns; i += threads) largest = max(largest, float(logits[i]));
  largest = max_over_threadgroup(largest, shared, simdgroup, simdgroups);
  for (uint i = place; i < columns; i += threads) sum += exp(float(logits[i]) - largest);
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);
  if (place == target % threads) losses[row] = largest - float(logits[target]) + log(sum);
  if (wants_gradient) {
    const float factor = scale / sum;
    for (uint i = place; i < columns; i += threads)
      gradient[i] = T(exp(float(logits[i]) - largest) * factor - (i == target ? scale : 0));
  }
}

#define CROSS_ENTROPY(T)                                                                             \
  template [[host_name("cross_entropy_kernel_" #T)]] kernel void cross_entropy_kernel<T>(            \
      device const T*, device const int*, device float*, device T*, constant uint&, constant float&, uint, uint, uint, \
      uint, uint);
METAL_EACH_FLOAT(CROSS_ENTROPY)
