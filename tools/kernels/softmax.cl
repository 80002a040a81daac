// Softmax of each row, one work-group of 256 per row, with tree reductions in local memory.
#define THREADS 256

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void softmax_tree(__global const float* restrict x,
                                                                                __global float* restrict out,
                                                                                uint size) {
  __local float scratch[THREADS];
  const uint i = get_local_id(0);
  __global const float* in_row = x + get_group_id(0) * size;
  __global float* out_row = out + get_group_id(0) * size;
  float largest = -INFINITY;
  for (uint j = i; j < size; j += THREADS) largest = fmax(largest, in_row[j]);
  scratch[i] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] = fmax(scratch[i], scratch[i + stride]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  largest = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (uint j = i; j < size; j += THREADS) {
    const float value = exp(in_row[j] - largest);
    out_row[j] = value;
    sum += value;
  }
  scratch[i] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] += scratch[i + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float scale = 1.0f / scratch[0];
  for (uint j = i; j < size; j += THREADS) out_row[j] *= scale;
}
