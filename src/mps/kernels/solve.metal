// Systems of equations with triangular matrices, by substitution: a thread has a right-hand side.
#include "rows.h"

constant uint is_right [[function_constant(0)]];      // the solution is on the left of the matrix
constant uint is_upper [[function_constant(1)]];
constant uint is_transposed [[function_constant(2)]];
constant uint is_unit [[function_constant(3)]];

struct TriangularSystem {
  uint order, right_hand_sides;
  float alpha;
  RowStrides matrix, solution;
};

kernel void solve_triangular(device const float* matrix [[buffer(0)]], device float* solution [[buffer(1)]],
                             constant TriangularSystem& system [[buffer(2)]],
                             uint3 position [[thread_position_in_grid]]) {
  if (position.x >= system.right_hand_sides) return;
  // X op(A) = B is op(A)^T X^T = B^T.
  const bool by_columns = (is_transposed != 0) != (is_right != 0);
  const ulong down = by_columns ? 1 : system.matrix.row, across = by_columns ? system.matrix.row : 1;
  const ulong step = is_right ? 1 : system.solution.row;
  matrix += position.z * system.matrix.matrix;
  solution += position.z * system.solution.matrix + position.x * (is_right ? system.solution.row : 1);
  const bool from_the_end = (is_upper != 0) != by_columns;
  for (uint i = 0; i < system.order; ++i) {
    const uint row = from_the_end ? system.order - 1 - i : i;
    float sum = system.alpha * solution[row * step];
    const uint first = from_the_end ? row + 1 : 0, end = from_the_end ? system.order : row;
    for (uint column = first; column < end; ++column)
      sum -= matrix[row * down + column * across] * solution[column * step];
    solution[row * step] = is_unit ? sum : sum / matrix[row * (down + across)];
  }
}

struct Exchange {
  uint rows, columns;
  uint pivots;     // how many exchanges; 0: none
  uint backwards;  // the last one first
  RowStrides from, to;
  ulong pivots_stride;
};

// Rows as they are, or exchanged as the pivots of a decomposition say: a thread has a column.
kernel void exchange_rows(device const float* from [[buffer(0)]], device float* to [[buffer(1)]],
                          device const uint* pivots [[buffer(2)]], constant Exchange& exchange [[buffer(3)]],
                          uint3 position [[thread_position_in_grid]]) {
  if (position.x >= exchange.columns) return;
  from += position.z * exchange.from.matrix + position.x;
  to += position.z * exchange.to.matrix + position.x;
  pivots += position.z * exchange.pivots_stride;
  if (from != to)
    for (uint row = 0; row < exchange.rows; ++row) to[row * exchange.to.row] = from[row * exchange.from.row];
  for (uint i = 0; i < exchange.pivots; ++i) {
    const uint row = exchange.backwards ? exchange.pivots - 1 - i : i;
    const uint other = pivots[row];
    const float value = to[row * exchange.to.row];
    to[row * exchange.to.row] = to[other * exchange.to.row];
    to[other * exchange.to.row] = value;
  }
}
