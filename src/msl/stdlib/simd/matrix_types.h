// The matrix types of the simd library: simd_float4x4, matrix_float4x4 and simd::float4x4 are Metal's float4x4.
#pragma once
#include <metal_matrix>
#include <simd/vector_types.h>

#define __METAL_SIMD_MATRIX(T, C, R) \
  typedef metal::matrix<T, C, R> simd_##T##C##x##R, matrix_##T##C##x##R; \
  namespace simd { \
  using metal::T##C##x##R; \
  }
#define __METAL_SIMD_MATRICES(T) \
  __METAL_SIMD_MATRIX(T, 2, 2) __METAL_SIMD_MATRIX(T, 2, 3) __METAL_SIMD_MATRIX(T, 2, 4) \
  __METAL_SIMD_MATRIX(T, 3, 2) __METAL_SIMD_MATRIX(T, 3, 3) __METAL_SIMD_MATRIX(T, 3, 4) \
  __METAL_SIMD_MATRIX(T, 4, 2) __METAL_SIMD_MATRIX(T, 4, 3) __METAL_SIMD_MATRIX(T, 4, 4)
__METAL_SIMD_MATRICES(half)
__METAL_SIMD_MATRICES(float)
#undef __METAL_SIMD_MATRICES
#undef __METAL_SIMD_MATRIX
