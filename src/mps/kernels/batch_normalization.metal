// Batch normalisation of matrices. A thread has a column: neighbouring threads read neighbouring numbers.
#include "neuron.h"
#include "rows.h"

constant uint neuron_type [[function_constant(0)]];
constant uint has_gamma [[function_constant(1)]];
constant uint has_beta [[function_constant(2)]];
constant uint wants_gamma [[function_constant(3)]];
constant uint wants_beta [[function_constant(4)]];

struct Shape {
  NeuronParameters parameters;
  float epsilon;
  uint rows;
  RowStrides source, result, gradient;
};

// Mean first, then the mean square of the differences: nothing cancels.
#define BATCH_STATISTICS(T)                                                                                          \
  [[host_name("batch_statistics_" #T)]] kernel void batch_statistics_##T(                                            \
      device const T* source [[buffer(0)]], device T* mean [[buffer(1)]], device T* variance [[buffer(2)]],          \
      constant Shape& shape [[buffer(3)]], uint column [[thread_position_in_grid]]) {                                \
    float sum = 0;                                                                                                   \
    for (uint row = 0; row < shape.rows; ++row) sum += float(source[row * shape.source.row + column]);               \
    const float average = sum / shape.rows;                                                                          \
    float squares = 0;                                                                                               \
    for (uint row = 0; row < shape.rows; ++row) {                                                                    \
      const float difference = float(source[row * shape.source.row + column]) - average;                             \
      squares += difference * difference;                                                                            \
    }                                                                                                                \
    mean[column] = T(average);                                                                                       \
    variance[column] = T(squares / shape.rows);                                                                      \
  }
METAL_EACH_FLOAT(BATCH_STATISTICS)

#define BATCH_NORMALIZATION(T)                                                                                       \
  [[host_name("batch_normalization_" #T)]] kernel void batch_normalization_##T(                                      \
      device const T* source [[buffer(0)]], device T* result [[buffer(1)]], device const T* mean [[buffer(2)]],      \
      device const T* variance [[buffer(3)]], device const T* gamma [[buffer(4)]],                                   \
      device const T* beta [[buffer(5)]], constant Shape& shape [[buffer(6)]],                                       \
      uint3 position [[thread_position_in_grid]]) {                                                                  \
    const uint column = position.x;                                                                                  \
    const float x = source[position.z * shape.source.matrix + position.y * shape.source.row + column];               \
    const float scale = rsqrt(float(variance[column]) + shape.epsilon) * (has_gamma ? float(gamma[column]) : 1.0f);  \
    const float y = (x - float(mean[column])) * scale + (has_beta ? float(beta[column]) : 0.0f);                     \
    result[position.z * shape.result.matrix + position.y * shape.result.row + column] =                              \
        T(neuron(neuron_type, y, shape.parameters));                                                                 \
  }
METAL_EACH_FLOAT(BATCH_NORMALIZATION)

// With n the normalised numbers and g the gradient before the neuron: the gradient of beta is the sum of g, that of
// gamma the sum of g * n, and that of the data gamma / deviation * (g - mean(g) - n * mean(g * n)).
#define BATCH_NORMALIZATION_GRADIENT(T)                                                                              \
  [[host_name("batch_normalization_gradient_" #T)]] kernel void batch_normalization_gradient_##T(                    \
      device const T* gradient [[buffer(0)]], device const T* source [[buffer(1)]], device T* result [[buffer(2)]],  \
      device const T* mean [[buffer(3)]], device const T* variance [[buffer(4)]],                                    \
      device const T* gamma [[buffer(5)]], device const T* beta [[buffer(6)]],                                       \
      device T* gamma_gradient [[buffer(7)]], device T* beta_gradient [[buffer(8)]],                                 \
      constant Shape& shape [[buffer(9)]], uint column [[thread_position_in_grid]]) {                                \
    const float average = mean[column], inverse = rsqrt(float(variance[column]) + shape.epsilon);                    \
    const float scale = has_gamma ? float(gamma[column]) : 1.0f, shift = has_beta ? float(beta[column]) : 0.0f;      \
    float sum = 0, product_sum = 0;                                                                                  \
    for (uint row = 0; row < shape.rows; ++row) {                                                                    \
      const float n = (float(source[row * shape.source.row + column]) - average) * inverse;                          \
      const float g = float(gradient[row * shape.gradient.row + column]) *                                           \
                      neuron_slope(neuron_type, n * scale + shift, shape.parameters);                                \
      sum += g;                                                                                                      \
      product_sum += g * n;                                                                                          \
    }                                                                                                                \
    for (uint row = 0; row < shape.rows; ++row) {                                                                    \
      const float n = (float(source[row * shape.source.row + column]) - average) * inverse;                          \
      const float g = float(gradient[row * shape.gradient.row + column]) *                                           \
                      neuron_slope(neuron_type, n * scale + shift, shape.parameters);                                \
      result[row * shape.result.row + column] =                                                                      \
          T(scale * inverse * (g - (sum + n * product_sum) / shape.rows));                                           \
    }                                                                                                                \
    if (wants_gamma) gamma_gradient[column] = T(product_sum);                                                        \
    if (wants_beta) beta_gradient[column] = T(sum);                                                                  \
  }
METAL_EACH_FLOAT(BATCH_NORMALIZATION_GRADIENT)
