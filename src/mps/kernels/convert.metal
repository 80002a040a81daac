// Matrices of one type as those of another.
#include "rows.h"

struct Conversion {
  uint columns;
  RowStrides from, to;
};

// A threadgroup has a row.
template <typename From, typename To>
kernel void convert(device const From* from [[buffer(0)]], device To* to [[buffer(1)]],
                    constant Conversion& conversion [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                    uint place [[thread_index_in_threadgroup]], uint3 threads [[threads_per_threadgroup]]) {
  from += group.z * conversion.from.matrix + group.y * conversion.from.row;
  to += group.z * conversion.to.matrix + group.y * conversion.to.row;
  for (uint i = place; i < conversion.columns; i += threads.x) to[i] = To(from[i]);
}

#define CONVERT(From, To)                                                        \
  template [[host_name("convert_" #From "_" #To)]] kernel void convert<From, To>( \
      device const From*, device To*, constant Conversion&, uint3, uint, uint3);
CONVERT(half, float)
CONVERT(bfloat, float)
CONVERT(char, float)
CONVERT(short, float)
CONVERT(float, half)
CONVERT(float, bfloat)
CONVERT(char, short)
