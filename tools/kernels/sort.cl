// Bitonic sort of a power of two of keys. Runs of 1024 are sorted in local memory; longer ones are merged by one launch
// per distance down to 512, the rest of each merge again in local memory.
#define THREADS 512
#define BLOCK 1024

#define COMPARE_EXCHANGE(keys, i, distance, ascending)       \
  do {                                                       \
    const uint low = 2 * (i) - ((i) & ((distance)-1));       \
    const uint a = (keys)[low], b = (keys)[low + (distance)]; \
    if ((a > b) == (ascending)) {                            \
      (keys)[low] = b;                                       \
      (keys)[low + (distance)] = a;                          \
    }                                                        \
  } while (0)

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void sort_blocks(__global uint* keys) {
  __local uint shared[BLOCK];
  const uint i = get_local_id(0);
  __global uint* mine = keys + get_group_id(0) * BLOCK;
  shared[i] = mine[i];
  shared[i + THREADS] = mine[i + THREADS];
  for (uint run = 2; run <= BLOCK; run *= 2) {
    const int ascending = (get_global_id(0) & (run / 2)) == 0;
    for (uint distance = run / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      COMPARE_EXCHANGE(shared, i, distance, ascending);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[i] = shared[i];
  mine[i + THREADS] = shared[i + THREADS];
}

__kernel void sort_step(__global uint* keys, uint run, uint distance) {
  const uint i = get_global_id(0);
  COMPARE_EXCHANGE(keys, i, distance, (i & (run / 2)) == 0);
}

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void sort_finish(__global uint* keys, uint run) {
  __local uint shared[BLOCK];
  const uint i = get_local_id(0);
  __global uint* mine = keys + get_group_id(0) * BLOCK;
  shared[i] = mine[i];
  shared[i + THREADS] = mine[i + THREADS];
  const int ascending = (get_global_id(0) & (run / 2)) == 0;
  for (uint distance = BLOCK / 2; distance > 0; distance /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    COMPARE_EXCHANGE(shared, i, distance, ascending);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  mine[i] = shared[i];
  mine[i + THREADS] = shared[i + THREADS];
}
