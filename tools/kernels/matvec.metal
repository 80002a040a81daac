// A matrix times a vector, by SIMD-groups: floats, and blocks of 32 four-bit numbers with a half for scale.
#include <metal_stdlib>
using namespace metal;

kernel void matvec(device const float* matrix, device const float* vector, device float* out, constant uint& width,
                   uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                   uint simdgroup [[simdgroup_index_in_threadgroup]],
                   uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint row = group * simdgroups + simdgroup;
  device const float4* row4 = (device const float4*)(matrix + row * width);
  device const float4* vector4 = (device const float4*)vector;
  float sum = 0;
  for (uint i = lane; i < width / 4; i += 32) sum += dot(row4[i], vector4[i]);
  sum = simd_sum(sum);
  if (lane == 0) out[row] = sum;
}

// The lower four bits are the first sixteen numbers, the upper four the others; each is 8 too large.
struct Block {
  half scale;
  uchar quants[16];
};

// A SIMD-group has four rows, so that what it reads of the vector serves four times.
constant constexpr uint rows = 4;

kernel void matvec_q4(device const Block* matrix, device const float* vector, device float* out, constant uint& width,
                      uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                      uint simdgroup [[simdgroup_index_in_threadgroup]],
                      uint simdgroups [[simdgroups_per_threadgroup]]) {
  const uint first = (group * simdgroups + simdgroup) * rows;
  const uint blocks = width / 32;
  float sums[rows] = {};
  for (uint i = lane; i < blocks; i += 32) {
    float x[32];
    for (uint j = 0; j < 32; ++j) x[j] = vector[i * 32 + j];
    for (uint row = 0; row < rows; ++row) {
      device const Block& block = matrix[(first + row) * blocks + i];
      float block_sum = 0;
      for (uint j = 0; j < 16; ++j) {
        const uchar quants = block.quants[j];
        block_sum += x[j] * float((quants & 15) - 8) + x[j + 16] * float((quants >> 4) - 8);
      }
      sums[row] += float(block.scale) * block_sum;
    }
  }
  for (uint row = 0; row < rows; ++row) {
    const float sum = simd_sum(sums[row]);
    if (lane == 0) out[first + row] = sum;
  }
}
