// The vector types of the simd library, which headers shared between a program and its shaders use: simd_float4,
// vector_float4 and simd::float4 are Metal's float4, and so for every element type and size.
#pragma once
#include <metal_types>

#define __METAL_SIMD_TYPE(T, n) \
  typedef metal::vec<T, n> simd_##T##n, vector_##T##n; \
  namespace simd { \
  using ::T##n; \
  }
#define __METAL_SIMD_TYPES(T) \
  typedef T simd_##T##1, vector_##T##1; \
  namespace simd { \
  typedef T T##1; \
  } \
  __METAL_SIMD_TYPE(T, 2) __METAL_SIMD_TYPE(T, 3) __METAL_SIMD_TYPE(T, 4)
__METAL_SIMD_TYPES(char)
__METAL_SIMD_TYPES(uchar)
__METAL_SIMD_TYPES(short)
__METAL_SIMD_TYPES(ushort)
__METAL_SIMD_TYPES(int)
__METAL_SIMD_TYPES(uint)
__METAL_SIMD_TYPES(long)
__METAL_SIMD_TYPES(ulong)
__METAL_SIMD_TYPES(half)
__METAL_SIMD_TYPES(float)
#undef __METAL_SIMD_TYPES
#undef __METAL_SIMD_TYPE

typedef bool simd_bool;
