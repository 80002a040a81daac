// Where each row has its largest number, the first of equals, or -1 if something there is no number; a threadgroup for
// each row.
#include "numbers.h"

template <typename T>
kernel void argmax_kernel(device const T* x [[buffer(0)]], device int* result [[buffer(1)]],
                          constant uint& columns [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                          uint place [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                          uint simdgroup [[simdgroup_index_in_threadgroup]],
                          uint simdgroups [[simdgroups_per_threadgroup]]) {
  threadgroup float shared[most_simdgroups];
  threadgroup uint shared_places[most_simdgroups];
  x += ulong(row) * columns;
  float largest = -INFINITY, broken = 0;
  uint where = columns;
  #pragma unroll 8
  for (uint i = place; i < columns; i += threads) {
    const float value = float(x[i]);
    if ((as_type<uint>(value) & 0x7FFFFFFF) > 0x7F800000) broken = 1;  // also where comparisons may expect numbers only
    if (value > largest || where == columns) {
      largest = value;
      where = i;
    }
  }
  broken = max_over_threadgroup(broken, shared, simdgroup, simdgroups);
  const float top = max_over_threadgroup(largest, shared, simdgroup, simdgroups);
  uint first = simd_min(largest == top ? where : columns);
  if (simdgroups > 1) {
    if (simd_is_first()) shared_places[simdgroup] = first;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < simdgroups; ++i) first = min(first, shared_places[i]);
  }
  if (place == 0) result[row] = broken != 0 ? -1 : int(first);
}

#define ARGMAX(T)                                                                                         \
  template [[host_name("argmax_kernel_" #T)]] kernel void argmax_kernel<T>(device const T*, device int*,  \
                                                                           constant uint&, uint, uint, uint, uint, uint);
METAL_EACH_FLOAT(ARGMAX)
