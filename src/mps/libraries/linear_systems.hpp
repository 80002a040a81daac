// Decompositions of matrices and systems of equations, as math libraries are asked for them. All numbers are float,
// matrices row by row; strides are in numbers.
#pragma once

#include <cstddef>

namespace metalloid::mps {

// Places: source, result (the same or another), pivots (null for Cholesky), status (null where nobody asks).
struct MatrixDecomposition {
  enum class Kind { lu, cholesky_lower, cholesky_upper };
  Kind kind = Kind::lu;
  size_t rows = 0, columns = 0;
  size_t source_row_stride = 0, result_row_stride = 0;
  size_t batch = 1;
  size_t source_batch_stride = 0, result_batch_stride = 0, pivots_batch_stride = 0;
  size_t statuses = 0;  // how many there is room for

  bool operator==(const MatrixDecomposition&) const = default;
};

// X becomes the solution of op(A) X = alpha X, or of X op(A) = alpha X. Places: A, X.
struct TriangularSystem {
  bool right = false, upper = false, transpose = false, unit = false;
  size_t order = 0, right_hand_sides = 0;
  double alpha = 1;
  size_t matrix_row_stride = 0, solution_row_stride = 0;
  size_t batch = 1;
  size_t matrix_batch_stride = 0, solution_batch_stride = 0;

  bool operator==(const TriangularSystem&) const = default;
};

}  // namespace metalloid::mps
