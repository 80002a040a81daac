// Decompositions of matrices, each by one threadgroup, step by step along the diagonal: a SIMD-group has a row, its
// threads the columns. After a step everything beyond it is what is left to decompose.
#include "rows.h"

struct Decomposition {
  uint rows, columns;
  uint statuses;
  RowStrides source, result;
  ulong pivots;  // from one matrix's to the next's
};

constant uint is_lower [[function_constant(0)]];

constant constexpr int success = 0, singular = -2, non_positive_definite = -3;

kernel void decompose_lu(device const float* source [[buffer(0)]], device float* result [[buffer(1)]],
                         device uint* pivots [[buffer(2)]], device int* statuses [[buffer(3)]],
                         constant Decomposition& shape [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
                         uint place [[thread_index_in_threadgroup]], uint3 threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup uint pivot_row;
  source += group.z * shape.source.matrix;
  result += group.z * shape.result.matrix;
  pivots += group.z * shape.pivots;
  const ulong stride = shape.result.row;
  for (uint row = simdgroup; row < shape.rows; row += simdgroups)
    for (uint column = lane; column < shape.columns; column += 32)
      result[row * stride + column] = source[row * shape.source.row + column];
  int status = success;
  for (uint step = 0; step < min(shape.rows, shape.columns); ++step) {
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
      float largest = -1;
      uint at = step;
      for (uint row = step + lane; row < shape.rows; row += 32) {
        const float size = abs(result[row * stride + step]);
        if (size > largest) {
          largest = size;
          at = row;
        }
      }
      const float most = simd_max(largest);
      const uint first = simd_min(largest == most ? at : shape.rows);
      if (lane == 0) {
        pivot_row = min(first, shape.rows - 1);
        pivots[step] = pivot_row;
      }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint exchanged = pivot_row;
    if (exchanged != step)
      for (uint column = place; column < shape.columns; column += threads.x) {
        const float value = result[step * stride + column];
        result[step * stride + column] = result[exchanged * stride + column];
        result[exchanged * stride + column] = value;
      }
    threadgroup_barrier(mem_flags::mem_device);
    const float pivot = result[step * stride + step];
    if (pivot == 0) {
      status = singular;
      continue;
    }
    for (uint row = step + 1 + simdgroup; row < shape.rows; row += simdgroups) {
      const float factor = result[row * stride + step] / pivot;
      simdgroup_barrier(mem_flags::mem_device);
      if (lane == 0) result[row * stride + step] = factor;
      for (uint column = step + 1 + lane; column < shape.columns; column += 32)
        result[row * stride + column] -= factor * result[step * stride + column];
    }
  }
  if (place == 0 && group.z < shape.statuses) statuses[group.z] = status;
}

// Of the upper triangle; the lower one is the upper one with rows for columns.
kernel void decompose_cholesky(device const float* source [[buffer(0)]], device float* result [[buffer(1)]],
                               device int* statuses [[buffer(2)]], constant Decomposition& shape [[buffer(3)]],
                               uint3 group [[threadgroup_position_in_grid]],
                               uint place [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                               uint simdgroup [[simdgroup_index_in_threadgroup]],
                               uint simdgroups [[simdgroups_per_threadgroup]]) {
  source += group.z * shape.source.matrix;
  result += group.z * shape.result.matrix;
  const uint order = shape.rows;
  const ulong source_down = is_lower ? 1 : shape.source.row, source_across = is_lower ? shape.source.row : 1;
  const ulong down = is_lower ? 1 : shape.result.row, across = is_lower ? shape.result.row : 1;
  for (uint row = simdgroup; row < order; row += simdgroups)
    for (uint column = row + lane; column < order; column += 32)
      result[row * down + column * across] = source[row * source_down + column * source_across];
  int status = success;
  for (uint step = 0; step < order; ++step) {
    threadgroup_barrier(mem_flags::mem_device);
    const float pivot = result[step * (down + across)];
    if (!(pivot > 0)) {
      status = non_positive_definite;
      break;
    }
    const float root = sqrt(pivot), factor = 1 / root;
    threadgroup_barrier(mem_flags::mem_device);
    if (simdgroup == 0)
      for (uint column = step + lane; column < order; column += 32)
        result[step * down + column * across] = column == step ? root : result[step * down + column * across] * factor;
    threadgroup_barrier(mem_flags::mem_device);
    for (uint row = step + 1 + simdgroup; row < order; row += simdgroups) {
      const float multiple = result[step * down + row * across];
      for (uint column = row + lane; column < order; column += 32)
        result[row * down + column * across] -= multiple * result[step * down + column * across];
    }
  }
  if (place == 0 && group.z < shape.statuses) statuses[group.z] = status;
}
