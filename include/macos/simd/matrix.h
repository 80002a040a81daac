// Making matrices, multiplying, transposing and inverting them.
#pragma once

#include <simd/geometry.h>
#include <simd/matrix_types.h>

namespace metalloid::macos::functions {

// A parameter of this type takes whatever converts to it; other parameters decide what the type is.
template <class T>
struct Same {
  using Type = T;
};
template <class T>
using NotDeduced = typename Same<T>::Type;

template <class T, int C, int R>
inline Matrix<T, R, C> transpose(const Matrix<T, C, R>& x) {
  Matrix<T, R, C> result;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) result.columns[r][c] = x.columns[c][r];
  return result;
}

template <class T>
inline T determinant(const Matrix<T, 2, 2>& x) {
  return x.columns[0].x * x.columns[1].y - x.columns[1].x * x.columns[0].y;
}

template <class T, int N>
inline T cofactor(const Matrix<T, N, N>& x, int column, int row);

template <class T, int N>
inline T determinant(const Matrix<T, N, N>& x) {
  T result = 0;
  for (int c = 0; c < N; ++c) result += x.columns[c].x * cofactor(x, c, 0);
  return result;
}

// With its sign, the determinant of what is left without that column and row.
template <class T, int N>
inline T cofactor(const Matrix<T, N, N>& x, int column, int row) {
  Matrix<T, N - 1, N - 1> rest;
  for (int c = 0; c < N - 1; ++c)
    for (int r = 0; r < N - 1; ++r) rest.columns[c][r] = x.columns[c + (c >= column)][r + (r >= row)];
  return (column + row) % 2 == 0 ? determinant(rest) : -determinant(rest);
}

template <class T>
inline Matrix<T, 2, 2> adjugate(const Matrix<T, 2, 2>& x) {
  return {{{x.columns[1].y, -x.columns[0].y}, {-x.columns[1].x, x.columns[0].x}}};
}

template <class T, int N>
inline Matrix<T, N, N> adjugate(const Matrix<T, N, N>& x) {
  Matrix<T, N, N> result;
  for (int c = 0; c < N; ++c)
    for (int r = 0; r < N; ++r) result.columns[c][r] = cofactor(x, r, c);
  return result;
}

// A matrix without an inverse has a determinant of zero, and infinities or NaN come out.
template <class T, int N>
inline Matrix<T, N, N> inverse(const Matrix<T, N, N>& x) {
  return adjugate(x) * (1 / determinant(x));
}

}  // namespace metalloid::macos::functions

template <class T, int C, int R>
inline metalloid::macos::Vector<T, R> simd_mul(
    const metalloid::macos::Matrix<T, C, R>& x,
    const metalloid::macos::functions::NotDeduced<metalloid::macos::Vector<T, C>>& y) {
  return x * y;
}

template <class T, int C, int R>
inline metalloid::macos::Vector<T, C> simd_mul(
    const metalloid::macos::functions::NotDeduced<metalloid::macos::Vector<T, R>>& x,
    const metalloid::macos::Matrix<T, C, R>& y) {
  return x * y;
}

template <class T, int C, int Inner, int R>
inline metalloid::macos::Matrix<T, C, R> simd_mul(const metalloid::macos::Matrix<T, Inner, R>& x,
                                                  const metalloid::macos::Matrix<T, C, Inner>& y) {
  return x * y;
}

template <class T, int C, int R>
inline metalloid::macos::Matrix<T, C, R> simd_mul(metalloid::macos::functions::NotDeduced<T> scalar,
                                                  const metalloid::macos::Matrix<T, C, R>& x) {
  return scalar * x;
}

template <class T, int C, int R>
inline metalloid::macos::Matrix<T, C, R> simd_add(const metalloid::macos::Matrix<T, C, R>& x,
                                                  const metalloid::macos::Matrix<T, C, R>& y) {
  return x + y;
}

template <class T, int C, int R>
inline metalloid::macos::Matrix<T, C, R> simd_sub(const metalloid::macos::Matrix<T, C, R>& x,
                                                  const metalloid::macos::Matrix<T, C, R>& y) {
  return x - y;
}

template <class T, int C, int R>
inline metalloid::macos::Matrix<T, C, R> simd_linear_combination(metalloid::macos::functions::NotDeduced<T> a,
                                                                 const metalloid::macos::Matrix<T, C, R>& x,
                                                                 metalloid::macos::functions::NotDeduced<T> b,
                                                                 const metalloid::macos::Matrix<T, C, R>& y) {
  return a * x + b * y;
}

template <class T, int C, int R>
inline bool simd_equal(const metalloid::macos::Matrix<T, C, R>& x, const metalloid::macos::Matrix<T, C, R>& y) {
  return x == y;
}

template <class T, int C, int R>
inline bool simd_almost_equal_elements(const metalloid::macos::Matrix<T, C, R>& x,
                                       const metalloid::macos::Matrix<T, C, R>& y,
                                       metalloid::macos::functions::NotDeduced<T> tolerance) {
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r)
      if (!(std::fabs(x.columns[c][r] - y.columns[c][r]) <= tolerance)) return false;
  return true;
}

template <class T, int C, int R>
inline metalloid::macos::Matrix<T, R, C> simd_transpose(const metalloid::macos::Matrix<T, C, R>& x) {
  return metalloid::macos::functions::transpose(x);
}

template <class T, int N>
inline T simd_determinant(const metalloid::macos::Matrix<T, N, N>& x) {
  return metalloid::macos::functions::determinant(x);
}

template <class T, int N>
inline metalloid::macos::Matrix<T, N, N> simd_inverse(const metalloid::macos::Matrix<T, N, N>& x) {
  return metalloid::macos::functions::inverse(x);
}

namespace simd {
template <class T, int C, int R>
inline ::metalloid::macos::ConstructedMatrix<T, R, C> transpose(const ::metalloid::macos::Matrix<T, C, R>& x) {
  return ::metalloid::macos::functions::transpose(x);
}
template <class T, int N>
inline T determinant(const ::metalloid::macos::Matrix<T, N, N>& x) {
  return ::metalloid::macos::functions::determinant(x);
}
template <class T, int N>
inline ::metalloid::macos::ConstructedMatrix<T, N, N> inverse(const ::metalloid::macos::Matrix<T, N, N>& x) {
  return ::metalloid::macos::functions::inverse(x);
}
}  // namespace simd

#define METALLOID_SIMD_MAKERS(T)                                        \
  inline T##2x2 simd_matrix(T##2 a, T##2 b) {                           \
    return {{a, b}};                                                    \
  }                                                                     \
  inline T##3x2 simd_matrix(T##2 a, T##2 b, T##2 c) {                   \
    return {{a, b, c}};                                                 \
  }                                                                     \
  inline T##4x2 simd_matrix(T##2 a, T##2 b, T##2 c, T##2 d) {           \
    return {{a, b, c, d}};                                              \
  }                                                                     \
  inline T##2x3 simd_matrix(T##3 a, T##3 b) {                           \
    return {{a, b}};                                                    \
  }                                                                     \
  inline T##3x3 simd_matrix(T##3 a, T##3 b, T##3 c) {                   \
    return {{a, b, c}};                                                 \
  }                                                                     \
  inline T##4x3 simd_matrix(T##3 a, T##3 b, T##3 c, T##3 d) {           \
    return {{a, b, c, d}};                                              \
  }                                                                     \
  inline T##2x4 simd_matrix(T##4 a, T##4 b) {                           \
    return {{a, b}};                                                    \
  }                                                                     \
  inline T##3x4 simd_matrix(T##4 a, T##4 b, T##4 c) {                   \
    return {{a, b, c}};                                                 \
  }                                                                     \
  inline T##4x4 simd_matrix(T##4 a, T##4 b, T##4 c, T##4 d) {           \
    return {{a, b, c, d}};                                              \
  }                                                                     \
  inline T##2x2 simd_matrix_from_rows(T##2 a, T##2 b) {                 \
    return simd_transpose(simd_matrix(a, b));                           \
  }                                                                     \
  inline T##2x3 simd_matrix_from_rows(T##2 a, T##2 b, T##2 c) {         \
    return simd_transpose(simd_matrix(a, b, c));                        \
  }                                                                     \
  inline T##2x4 simd_matrix_from_rows(T##2 a, T##2 b, T##2 c, T##2 d) { \
    return simd_transpose(simd_matrix(a, b, c, d));                     \
  }                                                                     \
  inline T##3x2 simd_matrix_from_rows(T##3 a, T##3 b) {                 \
    return simd_transpose(simd_matrix(a, b));                           \
  }                                                                     \
  inline T##3x3 simd_matrix_from_rows(T##3 a, T##3 b, T##3 c) {         \
    return simd_transpose(simd_matrix(a, b, c));                        \
  }                                                                     \
  inline T##3x4 simd_matrix_from_rows(T##3 a, T##3 b, T##3 c, T##3 d) { \
    return simd_transpose(simd_matrix(a, b, c, d));                     \
  }                                                                     \
  inline T##4x2 simd_matrix_from_rows(T##4 a, T##4 b) {                 \
    return simd_transpose(simd_matrix(a, b));                           \
  }                                                                     \
  inline T##4x3 simd_matrix_from_rows(T##4 a, T##4 b, T##4 c) {         \
    return simd_transpose(simd_matrix(a, b, c));                        \
  }                                                                     \
  inline T##4x4 simd_matrix_from_rows(T##4 a, T##4 b, T##4 c, T##4 d) { \
    return simd_transpose(simd_matrix(a, b, c, d));                     \
  }                                                                     \
  inline T##2x2 simd_diagonal_matrix(T##2 x) {                          \
    return metalloid::macos::diagonal_matrix<T##1, 2, 2>(x);            \
  }                                                                     \
  inline T##3x3 simd_diagonal_matrix(T##3 x) {                          \
    return metalloid::macos::diagonal_matrix<T##1, 3, 3>(x);            \
  }                                                                     \
  inline T##4x4 simd_diagonal_matrix(T##4 x) {                          \
    return metalloid::macos::diagonal_matrix<T##1, 4, 4>(x);            \
  }
METALLOID_SIMD_MAKERS(simd_float)
METALLOID_SIMD_MAKERS(simd_double)
#ifdef METALLOID_SIMD_HAS_HALF
METALLOID_SIMD_MAKERS(simd_half)
#endif
#undef METALLOID_SIMD_MAKERS

inline const simd_float2x2 matrix_identity_float2x2 = metalloid::macos::diagonal_matrix<float, 2, 2>(1);
inline const simd_float3x3 matrix_identity_float3x3 = metalloid::macos::diagonal_matrix<float, 3, 3>(1);
inline const simd_float4x4 matrix_identity_float4x4 = metalloid::macos::diagonal_matrix<float, 4, 4>(1);
inline const simd_double2x2 matrix_identity_double2x2 = metalloid::macos::diagonal_matrix<double, 2, 2>(1);
inline const simd_double3x3 matrix_identity_double3x3 = metalloid::macos::diagonal_matrix<double, 3, 3>(1);
inline const simd_double4x4 matrix_identity_double4x4 = metalloid::macos::diagonal_matrix<double, 4, 4>(1);

// The names from before simd_.
#define matrix_from_columns simd_matrix
#define matrix_from_rows simd_matrix_from_rows
#define matrix_from_diagonal simd_diagonal_matrix
#define matrix_multiply simd_mul
#define matrix_scale simd_mul
#define matrix_add simd_add
#define matrix_sub simd_sub
#define matrix_linear_combination simd_linear_combination
#define matrix_transpose simd_transpose
#define matrix_determinant simd_determinant
#define matrix_invert simd_inverse
#define matrix_equal simd_equal
#define matrix_almost_equal_elements simd_almost_equal_elements
