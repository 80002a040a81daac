#include <algorithm>

#include "loops.hpp"

namespace metalloid::kernels {

void convolution(const float* __restrict image, const float* __restrict filter, float* __restrict out, int width,
                 int height) {
  constexpr int radius = 3, filter_width = 2 * radius + 1;
#pragma omp parallel for
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int dy = std::max(-radius, -y); dy <= std::min(radius, height - 1 - y); ++dy)
        for (int dx = std::max(-radius, -x); dx <= std::min(radius, width - 1 - x); ++dx)
          sum += image[(y + dy) * width + x + dx] * filter[(dy + radius) * filter_width + dx + radius];
      out[y * width + x] = sum;
    }
}

}  // namespace metalloid::kernels
