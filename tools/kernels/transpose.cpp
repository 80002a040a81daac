#include "loops.hpp"

namespace metalloid::kernels {

void transpose(const float* __restrict x, float* __restrict out, uint32_t width, uint32_t height) {
#pragma omp parallel for
  for (uint32_t column = 0; column < width; ++column)
    for (uint32_t row = 0; row < height; ++row) out[column * height + row] = x[row * width + column];
}

}  // namespace metalloid::kernels
