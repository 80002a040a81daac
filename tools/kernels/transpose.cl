// The transpose of a matrix through 32 by 32 tiles, by work-groups of 32 by 8. A tile's rows are 33 long, so that its
// columns lie in different banks.
#define TILE 32
#define ROWS 8

__kernel __attribute__((reqd_work_group_size(TILE, ROWS, 1))) void transpose(__global const float* restrict x,
                                                                             __global float* restrict out, uint width,
                                                                             uint height) {
  __local float shared[TILE][TILE + 1];
  const uint lx = get_local_id(0), ly = get_local_id(1);
  const uint from_x = get_group_id(0) * TILE + lx, from_y = get_group_id(1) * TILE + ly;
  for (uint j = 0; j < TILE; j += ROWS)
    if (from_x < width && from_y + j < height) shared[ly + j][lx] = x[(from_y + j) * width + from_x];
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint to_x = get_group_id(1) * TILE + lx, to_y = get_group_id(0) * TILE + ly;
  for (uint j = 0; j < TILE; j += ROWS)
    if (to_x < height && to_y + j < width) out[(to_y + j) * height + to_x] = shared[lx][ly + j];
}
