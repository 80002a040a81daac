// How many steps each point of the plane takes to escape, at most `limit`.
__kernel void mandelbrot(__global uint* steps, uint width, uint height, uint limit) {
  const uint px = get_global_id(0), py = get_global_id(1);
  const float cx = (float)px / width * 3.0f - 2.25f, cy = (float)py / height * 2.5f - 1.25f;
  float x = 0, y = 0;
  uint count = 0;
  while (count < limit && x * x + y * y < 4.0f) {
    const float next_x = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next_x;
    ++count;
  }
  steps[py * width + px] = count;
}
