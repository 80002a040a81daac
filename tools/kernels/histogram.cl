// How often each byte occurs: every work-group counts its share in local memory and adds that to the result.
#define BINS 256

__kernel __attribute__((reqd_work_group_size(BINS, 1, 1))) void histogram(__global const uchar* restrict bytes,
                                                                          __global uint* counts, uint size) {
  __local uint mine[BINS];
  const uint local_id = get_local_id(0);
  mine[local_id] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint groups = get_num_groups(0), group = get_group_id(0);
  const uint share = (size + groups - 1) / groups, end = min(size, (group + 1) * share);
  for (uint j = group * share + local_id; j < end; j += BINS) atomic_inc(&mine[bytes[j]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[local_id], mine[local_id]);
}
