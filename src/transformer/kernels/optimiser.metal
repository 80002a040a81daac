// What makes a step of gradients: the length of rows, by which they are clipped, and Adam.
#include "numbers.h"

template <typename T>
kernel void norms_kernel(device const T* x [[buffer(0)]], device float* result [[buffer(1)]],
                         constant uint& columns [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                         uint place [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  x += ulong(row) * columns;
  float squares = 0;
  for (uint i = place; i < columns; i += threads) squares += float(x[i]) * float(x[i]);
  squares = sum_over_threadgroup(squares, shared, simdgroup, simdgroups);
  if (place == 0) result[row] = sqrt(squares);
}

#define NORMS(T)                                                                                                \
  template [[host_name("norms_kernel_" #T)]] kernel void norms_kernel<T>(device const T*, device float*,        \
                                                                         constant uint&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(NORMS)

struct AdamFactors {
  float keep_first, take_first, keep_second, take_second;
  float rate, epsilon, decay, gradient;
};

kernel void adam_kernel_float(device float* parameters [[buffer(0)]], device const float* gradients [[buffer(1)]],
                              device float* first [[buffer(2)]], device float* second [[buffer(3)]],
                              constant AdamFactors& factors [[buffer(4)]], uint i [[thread_position_in_grid]]) {
  const float gradient = factors.gradient * gradients[i];
  const float m = factors.keep_first * first[i] + factors.take_first * gradient;
  const float v = factors.keep_second * second[i] + factors.take_second * gradient * gradient;
  first[i] = m;
  second[i] = v;
  parameters[i] -= factors.rate * m / (sqrt(v) + factors.epsilon) + factors.decay * parameters[i];
}
