// Copies of parts of matrices, as bits or converted. What would lie outside of a matrix is left out: offsets may come
// from other kernels.
#include "types.h"

constant uint rows_permuted [[function_constant(0)]];
constant uint columns_permuted [[function_constant(1)]];

struct Offsets {
  uint source_row, source_column, destination_row, destination_column;
};

struct Shape {
  uint rows, columns;
  uint source_rows, source_columns;
  uint destination_rows, destination_columns;
  ulong source_row, source_column, destination_row, destination_column;  // strides
};

#define MATRIX_COPY(name, S, D)                                                                                     \
  [[host_name("matrix_copy_" #name)]] kernel void matrix_copy_##name(                                               \
      device const S* source [[buffer(0)]], device D* destination [[buffer(1)]],                                    \
      device const Offsets& offsets [[buffer(2)]], device const uint* row_indices [[buffer(3)]],                    \
      device const uint* column_indices [[buffer(4)]], constant Shape& shape [[buffer(5)]],                         \
      uint2 position [[thread_position_in_grid]]) {                                                                 \
    const ulong row = ulong(offsets.source_row) + (rows_permuted ? row_indices[position.y] : position.y);           \
    const ulong column =                                                                                            \
        ulong(offsets.source_column) + (columns_permuted ? column_indices[position.x] : position.x);                \
    const ulong to_row = ulong(offsets.destination_row) + position.y;                                               \
    const ulong to_column = ulong(offsets.destination_column) + position.x;                                         \
    if (row >= shape.source_rows || column >= shape.source_columns || to_row >= shape.destination_rows ||           \
        to_column >= shape.destination_columns)                                                                     \
      return;                                                                                                       \
    destination[to_row * shape.destination_row + to_column * shape.destination_column] =                            \
        D(source[row * shape.source_row + column * shape.source_column]);                                           \
  }

MATRIX_COPY(8_bits, uchar, uchar)
MATRIX_COPY(16_bits, ushort, ushort)
MATRIX_COPY(32_bits, uint, uint)
MATRIX_COPY(64_bits, ulong, ulong)
MATRIX_COPY(float_half, float, half)
MATRIX_COPY(float_bfloat, float, bfloat)
MATRIX_COPY(half_float, half, float)
MATRIX_COPY(half_bfloat, half, bfloat)
MATRIX_COPY(bfloat_float, bfloat, float)
MATRIX_COPY(bfloat_half, bfloat, half)
