// y = alpha op(A) x + beta y. A SIMD-group has a few rows of a matrix as it is stored, which share what is read of x; of
// a transposed one it has columns, a few for each of its threads, and the SIMD-groups of a threadgroup share the rows.
#include "rows.h"

struct MatrixVector {
  uint rows, columns;  // of op(A)
  float alpha, beta;
  RowStrides matrix;
  ulong vector, result;  // from one vector to the next
};

constant constexpr uint each = 4;

template <typename R>
void put(device R& place, float sum, constant MatrixVector& product) {
  float value = product.alpha * sum;
  if (product.beta != 0) value += product.beta * float(place);
  place = R(value);
}

template <typename T, typename R>
kernel void gemv(device const T* matrix [[buffer(0)]], device const T* vector [[buffer(1)]],
                 device R* result [[buffer(2)]], constant MatrixVector& product [[buffer(3)]],
                 uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group.x * simdgroups + simdgroup) * each;
  if (first >= product.rows) return;
  matrix += group.z * product.matrix.matrix;
  vector += group.z * product.vector;
  result += group.z * product.result;
  float sums[each] = {};
  for (uint column = lane; column < product.columns; column += 32) {
    const float x = float(vector[column]);
    #pragma unroll
    for (uint i = 0; i < each; ++i)
      sums[i] += x * float(matrix[min(first + i, product.rows - 1) * product.matrix.row + column]);
  }
  for (uint i = 0; i < each; ++i) {
    const float sum = simd_sum(sums[i]);
    if (lane == 0 && first + i < product.rows) put(result[first + i], sum, product);
  }
}

template <typename T, typename R>
kernel void gemv_transposed(device const T* matrix [[buffer(0)]], device const T* vector [[buffer(1)]],
                            device R* result [[buffer(2)]], constant MatrixVector& product [[buffer(3)]],
                            uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                            uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float partial[8][each * 32];
  const uint first = group.x * each * 32;
  matrix += group.z * product.matrix.matrix + first;
  vector += group.z * product.vector;
  result += group.z * product.result + first;
  const uint there = product.rows - first;
  float sums[each] = {};
  for (uint row = simdgroup; row < product.columns; row += simdgroups) {
    const float x = float(vector[row]);
    #pragma unroll
    for (uint i = 0; i < each; ++i)
      if (i * 32 + lane < there) sums[i] += x * float(matrix[row * product.matrix.row + i * 32 + lane]);
  }
  if (simdgroups > 1) {
    for (uint i = 0; i < each; ++i) partial[simdgroup][i * 32 + lane] = sums[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup != 0) return;
    for (uint other = 1; other < simdgroups; ++other)
      for (uint i = 0; i < each; ++i) sums[i] += partial[other][i * 32 + lane];
  }
  for (uint i = 0; i < each; ++i)
    if (i * 32 + lane < there) put(result[i * 32 + lane], sums[i], product);
}

#define GEMV_AS(name, T, R)                                                                             \
  template [[host_name(#name "_" #T "_" #R)]] kernel void name<T, R>(device const T*, device const T*, \
                                                                     device R*, constant MatrixVector&, uint3, uint, uint, uint);
#define GEMV(T, R) GEMV_AS(gemv, T, R) GEMV_AS(gemv_transposed, T, R)
GEMV(float, float)
GEMV(half, half)
GEMV(half, float)
GEMV(bfloat, bfloat)
GEMV(bfloat, float)
GEMV(char, float)
GEMV(short, float)
