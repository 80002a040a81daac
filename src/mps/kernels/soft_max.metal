// Softmax of rows. A row is read three times, for its maximum, its sum and its result: it stays in the nearest cache.
#include "rows.h"

// Powers are kept in the result, and scaled there: where arithmetic is dear, and floats lose nothing by it.
constant uint keeps_powers [[function_constant(0)]];

struct Shape {
  uint columns;
  RowStrides source, result;
};

template <typename T, bool logarithm>
void soft_max(device const T* source, device T* result, constant Shape& shape, uint3 group, uint place, uint threads,
              uint simdgroup, uint simdgroups, threadgroup float* shared) {
  source += group.z * shape.source.matrix + group.y * shape.source.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float largest = -INFINITY;
  for (uint i = place; i < shape.columns; i += threads) largest = max(largest, float(source[i]));
  largest = max_over_threadgroup(largest, shared, simdgroup, simdgroups);

  float sum = 0;
  for (uint i = place; i < shape.columns; i += threads) {
    const float power = exp(float(source[i]) - largest);
    if (keeps_powers) result[i] = T(power);
    sum += power;
  }
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);

  if (keeps_powers) {
    const float factor = 1 / sum;
    for (uint i = place; i < shape.columns; i += threads) result[i] *= T(factor);
  } else if (logarithm) {
    const float subtrahend = largest + log(sum);
    for (uint i = place; i < shape.columns; i += threads) result[i] = T(float(source[i]) - subtrahend);
  } else {
    const float factor = 1 / sum;
    for (uint i = place; i < shape.columns; i += threads) result[i] = T(exp(float(source[i]) - largest) * factor);
  }
}

// For GPUs, where the row is short enough for the registers of its threads: it is read once.
constant constexpr uint held_numbers = 8;  // of each thread

template <typename T, bool logarithm>
void soft_max_held(device const T* source, device T* result, constant Shape& shape, uint3 group, uint place,
                   uint threads, uint simdgroup, uint simdgroups, threadgroup float* shared) {
  source += group.z * shape.source.matrix + group.y * shape.source.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float held[held_numbers], largest = -INFINITY;
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k) {
    const uint i = place + k * threads;
    if (i >= shape.columns) continue;
    held[k] = source[i];
    largest = max(largest, held[k]);
  }
  largest = max_over_threadgroup(largest, shared, simdgroup, simdgroups);

  float powers[held_numbers], sum = 0;
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k)
    if (place + k * threads < shape.columns) sum += powers[k] = exp(held[k] - largest);
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);

  const float subtrahend = largest + log(sum), factor = 1 / sum;
  #pragma unroll
  for (uint k = 0; k < held_numbers; ++k) {
    const uint i = place + k * threads;
    if (i < shape.columns) result[i] = T(logarithm ? held[k] - subtrahend : powers[k] * factor);
  }
}

#define SOFT_MAX(T, name, function, logarithm)                                                                                 \
  [[host_name(#name "_" #T)]] kernel void name##_##T(                                                                \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], constant Shape& shape [[buffer(2)]],     \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],                     \
      uint3 threads [[threads_per_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],                  \
      uint simdgroups [[simdgroups_per_threadgroup]]) {                                                              \
    threadgroup float shared[most_simdgroups];                                                                       \
    function<T, logarithm>(source, result, shape, group, place, threads.x, simdgroup, simdgroups, shared);           \
  }
#define BOTH(T)                                   \
  SOFT_MAX(T, soft_max, soft_max, false)          \
  SOFT_MAX(T, log_soft_max, soft_max, true)       \
  SOFT_MAX(T, soft_max_held, soft_max_held, false) \
  SOFT_MAX(T, log_soft_max_held, soft_max_held, true)
METAL_EACH_FLOAT(BOTH)

struct GradientShape {
  uint columns;
  RowStrides gradient, output, result;
};

// With y the softmax and g the gradient of its result, y * (g - sum(g * y)); of the logarithm, g - exp(y) * sum(g).
template <typename T, bool logarithm>
void soft_max_gradient(device const T* gradient, device const T* output, device T* result,
                       constant GradientShape& shape, uint3 group, uint place, uint threads, uint simdgroup,
                       uint simdgroups, threadgroup float* shared) {
  gradient += group.z * shape.gradient.matrix + group.y * shape.gradient.row;
  output += group.z * shape.output.matrix + group.y * shape.output.row;
  result += group.z * shape.result.matrix + group.y * shape.result.row;

  float sum = 0;
  for (uint i = place; i < shape.columns; i += threads) sum += gradient[i] * (logarithm ? 1 : float(output[i]));
  sum = sum_over_threadgroup(sum, shared, simdgroup, simdgroups);

  for (uint i = place; i < shape.columns; i += threads) {
    const float g = gradient[i], y = output[i];
    result[i] = T(logarithm ? g - exp(y) * sum : y * (g - sum));
  }
}

#define SOFT_MAX_GRADIENT(T, name, logarithm)                                                                         \
  [[host_name(#name "_" #T)]] kernel void name##_##T(                                                                 \
      device const T* gradient [[buffer(0)]], device const T* output [[buffer(1)]], device T* result [[buffer(2)]],   \
      constant GradientShape& shape [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],                      \
      uint place [[thread_index_in_threadgroup]], uint3 threads [[threads_per_threadgroup]],                          \
      uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {            \
    threadgroup float shared[most_simdgroups];                                                                        \
    soft_max_gradient<T, logarithm>(gradient, output, result, shape, group, place, threads.x, simdgroup, simdgroups,  \
                                    shared);                                                                          \
  }
#define BOTH_GRADIENTS(T) \
  SOFT_MAX_GRADIENT(T, soft_max_gradient, false) SOFT_MAX_GRADIENT(T, log_soft_max_gradient, true)
METAL_EACH_FLOAT(BOTH_GRADIENTS)
