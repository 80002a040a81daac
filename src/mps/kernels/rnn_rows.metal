// Rows of sequences: copied between matrices of the program's and those of a layer, and summed over time.
#include "rows.h"

struct Copy {
  uint columns, rows;  // that the source has; the result has zeros beyond
  RowStrides from, to;
};

template <typename From, typename To>
kernel void rnn_copy(device const From* from [[buffer(0)]], device To* to [[buffer(1)]],
                     constant Copy& copy [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {
  to += position.z * copy.to.matrix + position.y * copy.to.row + position.x;
  *to = position.y < copy.rows
            ? To(float(from[position.z * copy.from.matrix + position.y * copy.from.row + position.x]))
            : To(0);
}

#define COPY(From, To)                                                              \
  template [[host_name("rnn_copy_" #From "_" #To)]] kernel void rnn_copy<From, To>( \
      device const From*, device To*, constant Copy&, uint3);
#define COPIES(From) COPY(From, float) COPY(From, half) COPY(From, bfloat)
METAL_EACH_FLOAT(COPIES)

// result = from^T, without gaps; a thread has a number of the result.
kernel void rnn_transpose(device const float* from [[buffer(0)]], device float* result [[buffer(1)]],
                          constant ulong& from_row [[buffer(2)]], uint2 position [[thread_position_in_grid]],
                          uint2 size [[threads_per_grid]]) {
  result[ulong(position.y) * size.x + position.x] = from[position.x * from_row + position.y];
}

constant uint has_factors [[function_constant(0)]];
constant uint accumulates [[function_constant(1)]];

struct Sums {
  uint rows, columns;
  ulong row, factors_row;  // strides
};

// Each column's sum, or that of its products with another matrix's. A SIMD-group has 32 columns; several of a
// threadgroup share the rows.
template <typename T>
kernel void rnn_sums(device const float* numbers [[buffer(0)]], device const float* factors [[buffer(1)]],
                     device T* result [[buffer(2)]], constant Sums& shape [[buffer(3)]],
                     uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                     uint simdgroup [[simdgroup_index_in_threadgroup]],
                     uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups * 32];
  const uint column = group * 32 + lane;
  float sum = 0;
  if (column < shape.columns)
    for (uint row = simdgroup; row < shape.rows; row += simdgroups) {
      const float number = numbers[row * shape.row + column];
      sum += has_factors ? number * factors[row * shape.factors_row + column] : number;
    }
  if (simdgroups > 1) {
    shared[simdgroup * 32 + lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup > 0) return;
    for (uint i = 1; i < simdgroups; ++i) sum += shared[i * 32 + lane];
  }
  if (column < shape.columns) result[column] = T(accumulates ? float(result[column]) + sum : sum);
}

#define SUMS(T)                                                                                                   \
  template [[host_name("rnn_sums_" #T)]] kernel void rnn_sums<T>(device const float*, device const float*, device T*, \
                                                                 constant Sums&, uint, uint, uint, uint);
METAL_EACH_FLOAT(SUMS)
