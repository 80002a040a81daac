// Neurons of matrices: y = neuron(alpha * x + bias), and what becomes of a gradient there.
#include "neuron.h"
#include "rows.h"
#include "streaming.h"

constant uint neuron_type [[function_constant(0)]];
constant uint has_bias [[function_constant(1)]];
constant uint fills_caches [[function_constant(2)]];
constant uint has_alpha [[function_constant(3)]];

struct Shape {
  NeuronParameters parameters;
  float alpha;
  RowStrides source, result;
  Span span;
};

// What the neuron is given, and its parameters, in a column.
template <typename T>
float neuron_input(float x, float alpha, device const T* bias, uint column) {
  return alpha * x + (has_bias ? float(bias[column]) : 0.0f);
}

inline NeuronParameters parameters_of(NeuronParameters parameters, device const float* channel_a, uint column) {
  if (neuron_type == neuron_prelu) parameters.a = channel_a[column];
  return parameters;
}

// The numbers from the thread's first on.
template <typename T, bool streams>
void give_neurons(device const T* source, device T* result, device const T* bias, device const float* channel_a,
                  constant Shape& shape, uint place, uint threads, uint count) {
  const float alpha = has_alpha ? shape.alpha : 1.0f;
  for_each_column(place, threads, count, [&](uint i) {
    fetch_stream<streams>(source + i);
    put<streams>(result + i, T(neuron(neuron_type, neuron_input(source[i], alpha, bias, i),
                                      parameters_of(shape.parameters, channel_a, i))));
  });
}

#define MATRIX_NEURON(T)                                                                                               \
  [[host_name("matrix_neuron_" #T)]] kernel void matrix_neuron_##T(                                                    \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const T* bias [[buffer(2)]],        \
      device const float* channel_a [[buffer(3)]], constant Shape& shape [[buffer(4)]],                                \
      uint3 group [[threadgroup_position_in_grid]], uint place [[thread_index_in_threadgroup]],                        \
      uint3 threads [[threads_per_threadgroup]]) {                                                                     \
    const uint first = shape.span.first(group.x), count = shape.span.count(group.x);                                   \
    source += group.z * shape.source.matrix + group.y * shape.source.row + first + place;                              \
    result += group.z * shape.result.matrix + group.y * shape.result.row + first + place;                              \
    bias += first + place;                                                                                             \
    channel_a += first + place;                                                                                        \
    if (fills_caches)                                                                                                  \
      give_neurons<T, true>(source, result, bias, channel_a, shape, place, threads.x, count);                          \
    else                                                                                                               \
      give_neurons<T, false>(source, result, bias, channel_a, shape, place, threads.x, count);                         \
  }
METAL_EACH_FLOAT(MATRIX_NEURON)

struct GradientShape {
  NeuronParameters parameters;
  float alpha;
  RowStrides gradient, input, result;
  uint rows, columns, matrices;
};

// The gradient of what the neuron is given, which is that of the bias in this row.
template <typename T>
float gradient_before_neuron(device const T* gradient, device const T* input, device const T* bias,
                             device const float* channel_a, constant GradientShape& shape, uint3 position) {
  const float x = input[position.z * shape.input.matrix + position.y * shape.input.row + position.x];
  return gradient[position.z * shape.gradient.matrix + position.y * shape.gradient.row + position.x] *
         neuron_slope(neuron_type, neuron_input(x, shape.alpha, bias, position.x),
                      parameters_of(shape.parameters, channel_a, position.x));
}

#define MATRIX_NEURON_GRADIENT(T)                                                                                     \
  [[host_name("matrix_neuron_gradient_" #T)]] kernel void matrix_neuron_gradient_##T(                                 \
      device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device T* result [[buffer(2)]],    \
      device const T* bias [[buffer(3)]], device const float* channel_a [[buffer(4)]],                                \
      constant GradientShape& shape [[buffer(5)]], uint3 position [[thread_position_in_grid]]) {                      \
    result[position.z * shape.result.matrix + position.y * shape.result.row + position.x] =                           \
        T(shape.alpha * gradient_before_neuron(gradient, input, bias, channel_a, shape, position));                   \
  }                                                                                                                   \
  [[host_name("matrix_neuron_bias_gradient_" #T)]] kernel void matrix_neuron_bias_gradient_##T(                       \
      device const T* gradient [[buffer(0)]], device const T* input [[buffer(1)]], device T* result [[buffer(2)]],    \
      device const T* bias [[buffer(3)]], device const float* channel_a [[buffer(4)]],                                \
      constant GradientShape& shape [[buffer(5)]], uint column [[thread_position_in_grid]]) {                         \
    float sum = 0;                                                                                                    \
    for (uint matrix = 0; matrix < shape.matrices; ++matrix)                                                          \
      for (uint row = 0; row < shape.rows; ++row)                                                                     \
        sum += gradient_before_neuron(gradient, input, bias, channel_a, shape, uint3(column, row, matrix));           \
    result[column] = T(sum);                                                                                          \
  }
METAL_EACH_FLOAT(MATRIX_NEURON_GRADIENT)

struct SumShape {
  uint rows, matrices;
  RowStrides source;
};

#define COLUMN_SUMS(T)                                                                                                \
  [[host_name("column_sums_" #T)]] kernel void column_sums_##T(                                                       \
      device const T* source [[buffer(0)]], device T* sums [[buffer(1)]], constant SumShape& shape [[buffer(2)]],     \
      uint column [[thread_position_in_grid]]) {                                                                      \
    float sum = 0;                                                                                                    \
    for (uint matrix = 0; matrix < shape.matrices; ++matrix)                                                          \
      for (uint row = 0; row < shape.rows; ++row)                                                                     \
        sum += float(source[matrix * shape.source.matrix + row * shape.source.row + column]);                         \
    sums[column] = T(sum);                                                                                            \
  }
METAL_EACH_FLOAT(COLUMN_SUMS)
