// Copies between arrays of any strides and types: integers as long, all else as float.
#include "types.h"

// Types as src/mps/core/nd_array_copy.cpp numbers them.
constant uint from_type [[function_constant(0)]];
constant uint to_type [[function_constant(1)]];
constant constexpr uint is_float = 0, is_half = 1, is_bfloat = 2, first_integer = 3;

struct ArrayCopy {
  uint dimensions;
  uint lengths[16];
  long from[16], to[16];  // strides, in numbers
};

inline float real_at(device const void* numbers, long i) {
  if (from_type == is_float) return ((device const float*)numbers)[i];
  if (from_type == is_half) return float(((device const half*)numbers)[i]);
  return float(((device const bfloat*)numbers)[i]);
}

inline long integer_at(device const void* numbers, long i) {
  switch (from_type - first_integer) {
    case 0: return ((device const char*)numbers)[i];
    case 1: return ((device const uchar*)numbers)[i];
    case 2: return ((device const short*)numbers)[i];
    case 3: return ((device const ushort*)numbers)[i];
    case 4: return ((device const int*)numbers)[i];
    case 5: return ((device const uint*)numbers)[i];
    default: return ((device const long*)numbers)[i];
  }
}

inline void set_real(device void* numbers, long i, float value) {
  if (to_type == is_float) ((device float*)numbers)[i] = value;
  else if (to_type == is_half) ((device half*)numbers)[i] = half(value);
  else ((device bfloat*)numbers)[i] = bfloat(value);
}

inline void set_integer(device void* numbers, long i, long value) {
  switch (to_type - first_integer) {
    case 0: ((device char*)numbers)[i] = char(value); break;
    case 1: ((device uchar*)numbers)[i] = uchar(value); break;
    case 2: ((device short*)numbers)[i] = short(value); break;
    case 3: ((device ushort*)numbers)[i] = ushort(value); break;
    case 4: ((device int*)numbers)[i] = int(value); break;
    case 5: ((device uint*)numbers)[i] = uint(value); break;
    default: ((device long*)numbers)[i] = value;
  }
}

kernel void nd_array_copy(device const void* from [[buffer(0)]], device void* to [[buffer(1)]],
                          constant ArrayCopy& copy [[buffer(2)]], uint3 position [[thread_position_in_grid]]) {
  if (position.x >= copy.lengths[0]) return;
  long source = position.x * copy.from[0] + position.y * copy.from[1];
  long target = position.x * copy.to[0] + position.y * copy.to[1];
  uint rest = position.z;
  for (uint i = 2; i < copy.dimensions; ++i) {
    const uint place = rest % copy.lengths[i];
    rest /= copy.lengths[i];
    source += place * copy.from[i];
    target += place * copy.to[i];
  }
  const bool from_integer = from_type >= first_integer, to_integer = to_type >= first_integer;
  if (from_integer && to_integer) set_integer(to, target, integer_at(from, source));
  else if (from_integer) set_real(to, target, float(integer_at(from, source)));
  else if (to_integer) set_integer(to, target, long(real_at(from, source)));
  else set_real(to, target, real_at(from, source));
}
