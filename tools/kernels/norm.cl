// RMSNorm and layer norm of each row, one work-group of 256 per row, with tree reductions in local memory.
#define THREADS 256

float group_sum(float value, __local float* scratch) {
  const uint i = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  scratch[i] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] += scratch[i + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return scratch[0];
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void rms_norm(__global const float* restrict x,
                                                                            __global const float* restrict weight,
                                                                            __global float* restrict out, uint size,
                                                                            float epsilon) {
  __local float scratch[THREADS];
  const uint i = get_local_id(0);
  __global const float* in_row = x + get_group_id(0) * size;
  __global float* out_row = out + get_group_id(0) * size;
  float squares = 0;
  for (uint j = i; j < size; j += THREADS) squares += in_row[j] * in_row[j];
  const float scale = rsqrt(group_sum(squares, scratch) / size + epsilon);
  for (uint j = i; j < size; j += THREADS) out_row[j] = in_row[j] * scale * weight[j];
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void layer_norm(__global const float* restrict x,
                                                                              __global const float* restrict weight,
                                                                              __global const float* restrict bias,
                                                                              __global float* restrict out, uint size,
                                                                              float epsilon) {
  __local float scratch[THREADS];
  const uint i = get_local_id(0);
  __global const float* in_row = x + get_group_id(0) * size;
  __global float* out_row = out + get_group_id(0) * size;
  float sum = 0;
  for (uint j = i; j < size; j += THREADS) sum += in_row[j];
  const float mean = group_sum(sum, scratch) / size;
  float squares = 0;
  for (uint j = i; j < size; j += THREADS) {
    const float difference = in_row[j] - mean;
    squares += difference * difference;
  }
  const float scale = rsqrt(group_sum(squares, scratch) / size + epsilon);
  for (uint j = i; j < size; j += THREADS) out_row[j] = (in_row[j] - mean) * scale * weight[j] + bias[j];
}
