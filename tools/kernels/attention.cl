// Attention of one head with 64 numbers per query, key and value: one work-group of 64 per query. Its scores lie in
// local memory; each work-item then sums one number of the output.
#define DEPTH 64
#define LONGEST 4096

__kernel __attribute__((reqd_work_group_size(DEPTH, 1, 1))) void attention(
    __global const float* restrict queries, __global const float* restrict keys, __global const float* restrict values,
    __global float* restrict out, uint length, float scale) {
  __local float scores[LONGEST];
  __local float query[DEPTH];
  __local float scratch[DEPTH];
  const uint i = get_local_id(0), row = get_group_id(0);
  query[i] = scale * queries[row * DEPTH + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float largest = -INFINITY;
  for (uint j = i; j < length; j += DEPTH) {
    float score = 0;
    for (uint k = 0; k < DEPTH; ++k) score += query[k] * keys[j * DEPTH + k];
    scores[j] = score;
    largest = fmax(largest, score);
  }
  scratch[i] = largest;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = DEPTH / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] = fmax(scratch[i], scratch[i + stride]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  largest = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  float total = 0;
  for (uint j = i; j < length; j += DEPTH) {
    scores[j] = exp(scores[j] - largest);
    total += scores[j];
  }
  scratch[i] = total;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = DEPTH / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] += scratch[i + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  total = scratch[0];
  float sum = 0;
  for (uint j = 0; j < length; ++j) sum += scores[j] * values[j * DEPTH + i];
  out[row * DEPTH + i] = sum / total;
}
