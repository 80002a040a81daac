// The sum of an array in two launches: every work-group sums its share, then one sums the sums.
#define THREADS 256

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void reduction(__global const float* restrict x,
                                                                             __global float* restrict out, uint size) {
  __local float scratch[THREADS];
  const uint i = get_local_id(0);
  float sum = 0;
  const uint group = get_group_id(0), groups = get_num_groups(0);
  const uint share = (size / groups + THREADS - 1) / THREADS * THREADS;
  const uint end = group + 1 == groups ? size : min(size, (group + 1) * share);
  for (uint j = group * share + i; j < end; j += THREADS) sum += x[j];
  scratch[i] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint stride = THREADS / 2; stride > 0; stride /= 2) {
    if (i < stride) scratch[i] += scratch[i + stride];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i == 0) out[get_group_id(0)] = scratch[0];
}
