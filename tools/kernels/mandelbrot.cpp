#include "loops.hpp"

namespace metalloid::kernels {

void mandelbrot(uint32_t* steps, uint32_t width, uint32_t height, uint32_t limit) {
#pragma omp parallel for schedule(dynamic)
  for (uint32_t py = 0; py < height; ++py)
    for (uint32_t px = 0; px < width; ++px) {
      const float cx = static_cast<float>(px) / static_cast<float>(width) * 3.0f - 2.25f;
      const float cy = static_cast<float>(py) / static_cast<float>(height) * 2.5f - 1.25f;
      float x = 0, y = 0;
      uint32_t count = 0;
      while (count < limit && x * x + y * y < 4.0f) {
        const float next_x = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next_x;
        ++count;
      }
      steps[py * width + px] = count;
    }
}

}  // namespace metalloid::kernels
