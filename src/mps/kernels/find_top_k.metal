// The largest numbers of a row, by a SIMD-group: each time, the largest of those that come after the one found last,
// where a number comes before a smaller one, and of equal ones the left before the right. NaNs are never found.
#include "rows.h"

struct Shape {
  uint columns, count, index_offset;
  RowStrides source, indices, values;
};

template <typename T>
void find_top_k(device const T* source, device uint* indices, device T* values, constant Shape& shape, uint3 group,
                uint lane) {
  source += group.z * shape.source.matrix + group.y * shape.source.row;
  indices += group.z * shape.indices.matrix + group.y * shape.indices.row;
  values += group.z * shape.values.matrix + group.y * shape.values.row;

  float last = INFINITY;
  int last_index = -1;
  for (uint k = 0; k < shape.count; ++k) {
    float largest = -INFINITY;
    uint index = shape.columns;
    for (uint i = lane; i < shape.columns; i += 32) {
      const float x = source[i];
      const bool comes_after = x < last || (x == last && int(i) > last_index);
      if (comes_after && (x > largest || index == shape.columns)) {
        largest = x;
        index = i;
      }
    }
    const float found = simd_max(index < shape.columns ? largest : -INFINITY);
    const uint where = simd_min(largest == found ? index : shape.columns);
    if (lane == 0) {
      values[k] = T(found);
      indices[k] = where + shape.index_offset;
    }
    last = found;
    last_index = int(where);
  }
}

#define FIND_TOP_K(T)                                                                                              \
  [[host_name("find_top_k_" #T)]] kernel void find_top_k_##T(                                                      \
      device const T* source [[buffer(0)]], device uint* indices [[buffer(1)]], device T* values [[buffer(2)]],    \
      constant Shape& shape [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],                           \
      uint lane [[thread_index_in_simdgroup]]) {                                                                   \
    find_top_k(source, indices, values, shape, group, lane);                                                       \
  }
METAL_EACH_FLOAT(FIND_TOP_K)
