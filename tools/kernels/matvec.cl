// A matrix times a vector, by work-groups of 32: floats, and blocks of 32 four-bit numbers with a half for scale.
#define THREADS 32

float group_sum(float value, __local float* scratch) {
  const uint i = get_local_id(0);
  scratch[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] += scratch[i + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return scratch[0];
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void matvec(__global const float* restrict matrix,
                                                                          __global const float* restrict vector,
                                                                          __global float* restrict out, uint width) {
  __local float scratch[THREADS];
  const uint row = get_group_id(0), i = get_local_id(0);
  __global const float4* row4 = (__global const float4*)(matrix + row * width);
  __global const float4* vector4 = (__global const float4*)vector;
  float sum = 0;
  for (uint j = i; j < width / 4; j += THREADS) sum += dot(row4[j], vector4[j]);
  sum = group_sum(sum, scratch);
  if (i == 0) out[row] = sum;
}

// The lower four bits are the first sixteen numbers, the upper four the others; each is 8 too large.
typedef struct {
  ushort scale;
  uchar quants[16];
} Block;

// A work-group has four rows, so that what it reads of the vector serves four times.
#define ROWS 4

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void matvec_q4(__global const Block* restrict matrix,
                                                                             __global const float* restrict vector,
                                                                             __global float* restrict out,
                                                                             uint width) {
  __local float scratch[THREADS];
  const uint first = get_group_id(0) * ROWS, i = get_local_id(0), blocks = width / 32;
  float sums[ROWS] = {0};
  for (uint j = i; j < blocks; j += THREADS) {
    float x[32];
    for (uint k = 0; k < 32; ++k) x[k] = vector[j * 32 + k];
    for (uint row = 0; row < ROWS; ++row) {
      __global const Block* block = matrix + (first + row) * blocks + j;
      float block_sum = 0;
      for (uint k = 0; k < 16; ++k) {
        const uchar quants = block->quants[k];
        block_sum += x[k] * (float)((quants & 15) - 8) + x[k + 16] * (float)((quants >> 4) - 8);
      }
      sums[row] += vload_half(0, (__global const half*)&block->scale) * block_sum;
    }
  }
  for (uint row = 0; row < ROWS; ++row) {
    const float sum = group_sum(sums[row], scratch);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0) out[first + row] = sum;
  }
}
