// Sums of matrices: each is added to sums in float, and the sums become the result.
#include "neuron.h"
#include "rows.h"

constant uint neuron_type [[function_constant(0)]];
constant uint has_bias [[function_constant(1)]];
constant uint is_first [[function_constant(2)]];
constant uint has_scales [[function_constant(3)]];
constant uint has_offsets [[function_constant(4)]];
constant uint transposed [[function_constant(5)]];

struct AdditionShape {
  uint columns, index;
  uint source_rows, source_columns;
  ulong source_row;  // stride
};

// Offsets count in the source as it is stored; what would lie outside of it is 0.
#define MATRIX_SUM_ADD(T)                                                                                           \
  [[host_name("matrix_sum_add_" #T)]] kernel void matrix_sum_add_##T(                                               \
      device const T* source [[buffer(0)]], device float* sums [[buffer(1)]],                                       \
      device const float* scales [[buffer(2)]], device const packed_uint2* offsets [[buffer(3)]],                   \
      constant AdditionShape& shape [[buffer(4)]], uint2 position [[thread_position_in_grid]]) {                    \
    ulong row = transposed ? position.x : position.y, column = transposed ? position.y : position.x;                \
    if (has_offsets) {                                                                                              \
      row += offsets[shape.index].x;                                                                                \
      column += offsets[shape.index].y;                                                                             \
    }                                                                                                               \
    const bool there = row < shape.source_rows && column < shape.source_columns;                                    \
    const float x = there ? float(source[row * shape.source_row + column]) : 0.0f;                                        \
    const float scaled = has_scales ? scales[shape.index] * x : x;                                                  \
    const ulong place = ulong(position.y) * shape.columns + position.x;                                             \
    sums[place] = is_first ? scaled : sums[place] + scaled;                                                         \
  }
METAL_EACH_FLOAT(MATRIX_SUM_ADD)

struct ResultShape {
  NeuronParameters parameters;
  uint columns;
  RowStrides result;
};

#define MATRIX_SUM_RESULT(T)                                                                                        \
  [[host_name("matrix_sum_result_" #T)]] kernel void matrix_sum_result_##T(                                         \
      device const float* sums [[buffer(0)]], device T* result [[buffer(1)]], device const T* bias [[buffer(2)]],   \
      constant ResultShape& shape [[buffer(3)]], uint2 position [[thread_position_in_grid]]) {                      \
    const float sum = sums[ulong(position.y) * shape.columns + position.x];                                         \
    result[position.y * shape.result.row + position.x] =                                                            \
        T(neuron(neuron_type, sum + (has_bias ? float(bias[position.x]) : 0.0f), shape.parameters));                \
  }
METAL_EACH_FLOAT(MATRIX_SUM_RESULT)
