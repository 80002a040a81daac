// The matrices of <simd/simd.h>: columns of vectors. simd_float4x3 has four columns of three rows; it is a plain struct
// that braces fill column by column, and simd::float4x3 is the same with constructors.
#pragma once

#include <simd/vector_types.h>

namespace metalloid::macos {

template <class T, int Columns, int Rows>
struct Matrix {
  using Scalar = T;
  using Column = Vector<T, Rows>;
  using Row = Vector<T, Columns>;

  Column columns[Columns];

  friend Matrix operator+(const Matrix& x, const Matrix& y) {
    Matrix result;
    for (int c = 0; c < Columns; ++c) result.columns[c] = x.columns[c] + y.columns[c];
    return result;
  }
  friend Matrix operator-(const Matrix& x, const Matrix& y) {
    Matrix result;
    for (int c = 0; c < Columns; ++c) result.columns[c] = x.columns[c] - y.columns[c];
    return result;
  }
  friend Matrix operator-(const Matrix& x) { return x * T(-1); }
  friend Matrix operator*(const Matrix& x, T scalar) {
    Matrix result;
    for (int c = 0; c < Columns; ++c) result.columns[c] = x.columns[c] * scalar;
    return result;
  }
  friend Matrix operator*(T scalar, const Matrix& x) { return x * scalar; }
  friend Column operator*(const Matrix& x, const Row& y) {
    Column result(T(0));
    for (int c = 0; c < Columns; ++c) result += x.columns[c] * y[c];
    return result;
  }
  friend Row operator*(const Column& x, const Matrix& y) {
    Row result(T(0));
    for (int c = 0; c < Columns; ++c)
      for (int r = 0; r < Rows; ++r) result[c] += x[r] * y.columns[c][r];
    return result;
  }
  template <int Others>
  friend Matrix<T, Others, Rows> operator*(const Matrix& x, const Matrix<T, Others, Columns>& y) {
    Matrix<T, Others, Rows> result;
    for (int c = 0; c < Others; ++c) result.columns[c] = x * y.columns[c];
    return result;
  }
  friend bool operator==(const Matrix& x, const Matrix& y) {
    for (int c = 0; c < Columns; ++c)
      for (int r = 0; r < Rows; ++r)
        if (!(x.columns[c][r] == y.columns[c][r])) return false;
    return true;
  }
  friend bool operator!=(const Matrix& x, const Matrix& y) { return !(x == y); }

  friend Matrix& operator+=(Matrix& x, const Matrix& y) { return x = x + y; }
  friend Matrix& operator-=(Matrix& x, const Matrix& y) { return x = x - y; }
  friend Matrix& operator*=(Matrix& x, T scalar) { return x = x * scalar; }
  friend Matrix& operator*=(Matrix& x, const Matrix<T, Columns, Columns>& y) { return x = x * y; }
};

template <class T, int Columns, int Rows>
Matrix<T, Columns, Rows> diagonal_matrix(const Vector<T, (Columns < Rows ? Columns : Rows)>& diagonal) {
  Matrix<T, Columns, Rows> result{};
  for (int i = 0; i < (Columns < Rows ? Columns : Rows); ++i) result.columns[i][i] = diagonal[i];
  return result;
}

template <class T, int Columns, int Rows>
struct ConstructedMatrix : Matrix<T, Columns, Rows> {
  using Base = Matrix<T, Columns, Rows>;
  using Diagonal = Vector<T, (Columns < Rows ? Columns : Rows)>;
  using Column = typename Base::Column;

  ConstructedMatrix() : Base{} {}
  ConstructedMatrix(const Base& matrix) : Base(matrix) {}
  explicit ConstructedMatrix(T diagonal) : Base(diagonal_matrix<T, Columns, Rows>(diagonal)) {}
  ConstructedMatrix(const Diagonal& diagonal) : Base(diagonal_matrix<T, Columns, Rows>(diagonal)) {}
  template <class... More, class = std::enable_if_t<sizeof...(More) == Columns - 2>>
  ConstructedMatrix(const Column& first, const Column& second, const More&... more)
      : Base{{first, second, Column(more)...}} {}
};

}  // namespace metalloid::macos

#define METALLOID_SIMD_MATRIX(T, name, C, R)                          \
  typedef metalloid::macos::Matrix<T, C, R> simd_##name##C##x##R;     \
  typedef simd_##name##C##x##R matrix_##name##C##x##R;                \
  namespace simd {                                                    \
  typedef metalloid::macos::ConstructedMatrix<T, C, R> name##C##x##R; \
  }
#define METALLOID_SIMD_MATRICES(T, name) \
  METALLOID_SIMD_MATRIX(T, name, 2, 2)   \
  METALLOID_SIMD_MATRIX(T, name, 3, 2)   \
  METALLOID_SIMD_MATRIX(T, name, 4, 2)   \
  METALLOID_SIMD_MATRIX(T, name, 2, 3)   \
  METALLOID_SIMD_MATRIX(T, name, 3, 3)   \
  METALLOID_SIMD_MATRIX(T, name, 4, 3)   \
  METALLOID_SIMD_MATRIX(T, name, 2, 4)   \
  METALLOID_SIMD_MATRIX(T, name, 3, 4)   \
  METALLOID_SIMD_MATRIX(T, name, 4, 4)
METALLOID_SIMD_MATRICES(float, float)
METALLOID_SIMD_MATRICES(double, double)
#ifdef METALLOID_SIMD_HAS_HALF
METALLOID_SIMD_MATRICES(_Float16, half)
#endif
#undef METALLOID_SIMD_MATRICES
#undef METALLOID_SIMD_MATRIX

static_assert(sizeof(simd_float3x3) == 48 && alignof(simd_float3x3) == 16);
static_assert(sizeof(simd_float4x4) == 64 && alignof(simd_float4x4) == 16);
static_assert(sizeof(simd_float2x2) == 16 && alignof(simd_float2x2) == 8);
static_assert(std::is_aggregate_v<simd_float4x4> && std::is_trivial_v<simd_float4x4>);
