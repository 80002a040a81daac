// The packed vector types of the simd library: simd_packed_float3 and simd::packed_float3 are Metal's packed_float3.
#pragma once
#include <metal_types>

#define __METAL_SIMD_PACKED_TYPE(T, n) \
  typedef metal::packed_vec<T, n> simd_packed_##T##n; \
  namespace simd { \
  using ::packed_##T##n; \
  }
#define __METAL_SIMD_PACKED_TYPES(T) \
  __METAL_SIMD_PACKED_TYPE(T, 2) __METAL_SIMD_PACKED_TYPE(T, 3) __METAL_SIMD_PACKED_TYPE(T, 4)
__METAL_SIMD_PACKED_TYPES(char)
__METAL_SIMD_PACKED_TYPES(uchar)
__METAL_SIMD_PACKED_TYPES(short)
__METAL_SIMD_PACKED_TYPES(ushort)
__METAL_SIMD_PACKED_TYPES(int)
__METAL_SIMD_PACKED_TYPES(uint)
__METAL_SIMD_PACKED_TYPES(long)
__METAL_SIMD_PACKED_TYPES(ulong)
__METAL_SIMD_PACKED_TYPES(half)
__METAL_SIMD_PACKED_TYPES(float)
#undef __METAL_SIMD_PACKED_TYPES
#undef __METAL_SIMD_PACKED_TYPE
