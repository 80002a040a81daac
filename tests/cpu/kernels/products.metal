// Products of simdgroup matrices, several of which are made together.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;

//@ buffer float random 4096
//@ buffer float random 4096
//@ buffer float zeros 8192
//@ bytes uint 64
//@ grid 32 group 32
//@ grid 128 group 64
//@ tolerance 1e-4
kernel void tiles_of_a_block(device const float* a, device const float* b, device float* c, constant uint& n,
                             uint group [[threadgroup_position_in_grid]],
                             uint simdgroup [[simdgroup_index_in_threadgroup]]) {
  const uint row = (group & 1) * 32, column = (simdgroup & 1) * 24;
  simdgroup_float8x8 sums[4][3];
  for (uint i = 0; i < 4; ++i)
    for (uint j = 0; j < 3; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(float(i));
  for (uint k = 0; k < n; k += 8) {
    simdgroup_float8x8 left[4], right[3];
    for (uint i = 0; i < 4; ++i) simdgroup_load(left[i], a + (row + 8 * i) * n + k, n);
    for (uint j = 0; j < 3; ++j) simdgroup_load(right[j], b + k * n + column + 8 * j, n);
    for (uint i = 0; i < 4; ++i)
      for (uint j = 0; j < 3; ++j) simdgroup_multiply_accumulate(sums[i][j], left[i], right[j], sums[i][j]);
  }
  for (uint i = 0; i < 4; ++i)
    for (uint j = 0; j < 3; ++j) simdgroup_store(sums[i][j], c + (group & 1) * 4096 + (row + 8 * i) * n + column + 8 * j, n);
}

// Some products need others, one is its own operand, types differ.
//@ buffer half random 1024
//@ buffer float zeros 512
//@ buffer half zeros 512
//@ grid 64 group 32
//@ tolerance 2e-2
kernel void products_of_products(device const half* in, device float* out, device half* halves,
                                 uint group [[threadgroup_position_in_grid]]) {
  simdgroup_half8x8 x, y, z;
  simdgroup_load(x, in + 64 * group, 8);
  simdgroup_load(y, in + 128 + 64 * group, 8);
  simdgroup_load(z, in + 256 + 64 * group, 8, ulong2(0), true);
  simdgroup_float8x8 a = make_filled_simdgroup_matrix<float, 8, 8>(1.0f), b = a, c = b, d = c;
  simdgroup_half8x8 e;
  simdgroup_multiply_accumulate(a, x, y, a);
  simdgroup_multiply_accumulate(b, y, x, b);
  simdgroup_multiply_accumulate(c, x, x, a);
  simdgroup_multiply(e, y, z);
  simdgroup_multiply_accumulate(d, e, z, b);
  c.thread_elements()[0] += a.thread_elements()[1];
  simdgroup_multiply_accumulate(b, z, e, c);
  simdgroup_multiply_accumulate(e, x, z, e);
  simdgroup_store(a, out + 256 * group, 8);
  simdgroup_store(b, out + 256 * group + 64, 8);
  simdgroup_store(c, out + 256 * group + 128, 8);
  simdgroup_store(d, out + 256 * group + 192, 8);
  simdgroup_store(e, halves + 64 * group, 8);
}
