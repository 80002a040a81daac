// Kernels that begin by dividing what counts, and use the result for more than addresses: groups of one row have a copy
// of the code to themselves.
#include <metal_stdlib>
using namespace metal;

#define INDEX                                                                                        \
  uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]]
#define I (at.x + grid.x * (at.y + grid.y * at.z))
#define N (grid.x * grid.y * grid.z)

#define ROW_ARGUMENTS device const uint* in, device uint* out, constant uint& n, INDEX

static void make_row(device const uint* in, device uint* out, uint n, uint i, uint size) {
  const uint row = i / n, column = i % n;
  if (row >= (size + n - 1) / n / 2 + 1) return;
  uint sum = row * 1000 + column;
  for (uint k = 0; k < 3; ++k)
    sum = sum * 7 + in[min(row * n + (column + k) % n, size - 1)] + in[min(k * row, size - 1)];
  out[i] = column > row ? sum : ~sum;
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 1
kernel void rows_of_1(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 7
kernel void rows_of_7(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 31
kernel void rows_of_31(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 32
kernel void rows_of_32(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 64
kernel void rows_of_64(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 100
kernel void rows_of_100(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 1000000
kernel void one_row(ROW_ARGUMENTS) {
  make_row(in, out, n, I, N);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes int 50
kernel void signed_rows(device const uint* in, device uint* out, constant int& n, INDEX) {
  const int i = int(I) - 70, row = i / n, column = i % n;
  if (row > 40) return;
  out[I] = in[min(uint(abs(column)), N - 1)] + uint(row * 3 - column) + (column < 0 ? 5 : 9);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes int -50
kernel void rows_of_negative_numbers(device const uint* in, device uint* out, constant int& n, INDEX) {
  const int row = int(I) / n, column = int(I) % n;
  out[I] = in[min(uint(abs(row)), N - 1)] + uint(row * 3 - column) + (row < -1 ? 5 : 9);
}

//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes ulong 90
kernel void long_rows(device const uint* in, device uint* out, constant ulong& n, INDEX) {
  const ulong i = ulong(I) * 3 + 0xFFFFFFC0ul, row = i / n, column = i % n;
  if (column == 77) return;
  out[I] = in[min(column, ulong(N - 1))] + uint(row) + (row % 2 == 0 ? 5 : 9);
}

// The dividend wraps around in the midst of a group.
//@ buffer uint random 128
//@ buffer uint zeros N
//@ bytes uint 120
kernel void rows_where_it_wraps(device const uint* in, device uint* out, constant uint& n, INDEX) {
  const uint i = I + 0xFFFFFFE4u, row = i / n, column = i % n;
  out[I] = in[column] + row + (row > 5 ? 1 : 0);
}

// Three divisions, two of them behind a branch.
//@ buffer float random N
//@ buffer float zeros N
//@ bytes uint 48
//@ bytes uint 5
kernel void padded(device const float* in, device float* out, constant uint& width, constant uint& height, INDEX) {
  const uint padded_width = width + 2, padded_height = height + 2;
  const uint image = I / (padded_width * padded_height);
  if (image * width * height >= N) return;
  const int x = int(I % padded_width) - 1, y = int(I / padded_width % padded_height) - 1;
  const uint from = (image * height + uint(y)) * width + uint(x);
  out[I] = x >= 0 && x < int(width) && y >= 0 && y < int(height) && from < N ? in[from] : -1;
}

// A later division by what is 0 where it is not made.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 60
//@ bytes uint 0
kernel void divided_further_on(device const uint* in, device uint* out, constant uint& n, constant uint& m, INDEX) {
  const uint row = I / n;
  uint sum = row > 2 ? row : in[I];
  if (m != 0) {
    const uint part = I / m, rest = I % m;
    sum += part > rest ? part : in[min(rest, N - 1)];
  }
  out[I] = sum;
}

// Only some lanes get to the second.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 60
//@ bytes uint 45
kernel void divided_further_on_by_some(device const uint* in, device uint* out, constant uint& n, constant uint& m,
                                       INDEX) {
  const uint row = I / n;
  uint sum = row > 2 ? row : 7;
  if (in[I] & 1) {
    const uint part = I / m, rest = I % m;
    sum += part > rest ? part * 2 : in[min(rest, N - 1)];
  }
  for (uint k = 0; k < in[I] % 5; ++k) sum += (I + k) / n == row ? in[min(row + k, N - 1)] : I % m;
  out[I] = sum;
}

// What lanes find out together.
//@ buffer uint random N
//@ buffer uint zeros 2N
//@ bytes uint 70
kernel void rows_with_group_functions(device const uint* in, device uint* out, constant uint& n, INDEX,
                                      uint lane [[thread_index_in_simdgroup]]) {
  const uint row = I / n, column = I % n;
  uint sum = simd_sum(column < 50 ? in[I] : row);
  if (row & 1) sum += simd_prefix_inclusive_sum(lane + row);
  out[2 * I] = sum;
  out[2 * I + 1] = simd_shuffle_xor(row * column, 3) + quad_broadcast(column, 2);
}

//@ buffer half random N
//@ buffer float zeros N
//@ bytes uint 80
//@ grid 64x64 group 16x16
//@ grid 37x19 group 16x4
//@ grid 130x3 group 65x1
kernel void rows_of_pixels(device const half* in, device float* out, constant uint& n, INDEX) {
  const uint row = I / n, column = I % n;
  float array[4] = {};
  for (uint k = 0; k < 4; ++k) array[(column + k) % 4] += float(in[min(row * n + k, N - 1)]) * float(row);
  out[I] = array[column & 3] + float(column) * (row % 3 == 1 ? 0.5f : 2.0f);
}

// What is divided by is a quotient itself, of what is 0 where nobody divides by it.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 60
//@ bytes uint 0
kernel void divided_by_a_quotient(device const uint* in, device uint* out, constant uint& n, constant uint& m, INDEX) {
  const uint row = I / n;
  uint sum = row > 2 ? row : in[I];
  if (m != 0) {
    const uint width = 1000 / m + 1, part = I / width, rest = I % width;
    sum += part > rest ? part : in[min(rest, N - 1)];
  }
  out[I] = sum;
}

// Each of two ways divides for itself, by numbers of its own; what is behind both divides, too.
//@ buffer uint random N
//@ buffer uint zeros N
//@ bytes uint 300
//@ bytes uint 70
//@ bytes uint 90
kernel void divided_on_either_way(device const uint* in, device uint* out, constant uint& limit, constant uint& n,
                                  constant uint& m, INDEX) {
  uint sum = 0;
  if (I < limit) {
    const uint width = max(n, 1u), row = I / width, column = I % width;
    sum = column < width / 2 ? in[min(row + column + width / 2, N - 1)] : row;
  } else if (I < 2 * limit) {
    const uint i = I - limit, width = max(m, 1u), row = i / width, column = i % width;
    sum = column < width / 2 ? in[min(row + column + width / 2, N - 1)] : row;
  }
  out[I] = sum + I / (n + m) + (I + 1) % (n + m);
}
