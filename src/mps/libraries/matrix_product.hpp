// C = alpha * op(A) * op(B) + beta * C for a batch of matrices, as math libraries are asked for it.
#pragma once

#include <MetalPerformanceShaders/MPSCoreTypes.hpp>

namespace metalloid::mps {

// Places: A, B, C.
struct MatrixProduct {
  size_t rows = 0, columns = 0, interior = 0;  // C is rows x columns
  bool transpose_left = false, transpose_right = false;
  double alpha = 1, beta = 0;
  MPS::DataType left_type = MPS::DataTypeFloat32, right_type = MPS::DataTypeFloat32, result_type = MPS::DataTypeFloat32;
  size_t left_row_stride = 0, right_row_stride = 0, result_row_stride = 0;  // elements, of the matrices as stored
  size_t batch = 1;
  size_t left_batch_stride = 0, right_batch_stride = 0, result_batch_stride = 0;  // elements
  size_t alignment = 1;  // bytes, of all places; a power of two

  bool operator==(const MatrixProduct&) const = default;
};

}  // namespace metalloid::mps
