// A 7 by 7 convolution of an image, zero outside: straight from memory, and through tiles of 16 by 16 with their
// margins in local memory.
#define RADIUS 3
#define FILTER 7
#define TILE 16
#define PADDED (TILE + 2 * RADIUS)

__kernel void convolution_naive(__global const float* restrict image, __constant float* filter,
                                __global float* restrict out, int width, int height) {
  const int ax = get_global_id(0), ay = get_global_id(1);
  if (ax >= width || ay >= height) return;
  float sum = 0;
  for (int dy = -RADIUS; dy <= RADIUS; ++dy)
    for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
      const int y = ay + dy, x = ax + dx;
      if (x >= 0 && x < width && y >= 0 && y < height)
        sum += image[y * width + x] * filter[(dy + RADIUS) * FILTER + dx + RADIUS];
    }
  out[ay * width + ax] = sum;
}

__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void convolution_tiled(
    __global const float* restrict image, __constant float* filter, __global float* restrict out, int width,
    int height) {
  __local float shared[PADDED][PADDED];
  const int lx = get_local_id(0), ly = get_local_id(1);
  const int corner_x = (int)get_group_id(0) * TILE - RADIUS, corner_y = (int)get_group_id(1) * TILE - RADIUS;
  for (int j = ly; j < PADDED; j += TILE)
    for (int i = lx; i < PADDED; i += TILE) {
      const int y = corner_y + j, x = corner_x + i;
      shared[j][i] = x >= 0 && x < width && y >= 0 && y < height ? image[y * width + x] : 0.0f;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  const int ax = get_global_id(0), ay = get_global_id(1);
  if (ax >= width || ay >= height) return;
  float sum = 0;
  for (int dy = 0; dy < FILTER; ++dy)
    for (int dx = 0; dx < FILTER; ++dx) sum += shared[ly + dy][lx + dx] * filter[dy * FILTER + dx];
  out[ay * width + ax] = sum;
}
