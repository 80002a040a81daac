#include <algorithm>
#include <cmath>

#include "loops.hpp"

namespace metalloid::kernels {

void softmax(const float* __restrict x, float* __restrict out, uint32_t rows, uint32_t size) {
#pragma omp parallel for
  for (uint32_t row = 0; row < rows; ++row) {
    const float* in_row = x + row * size;
    float* out_row = out + row * size;
    float largest = -INFINITY;
#pragma omp simd reduction(max : largest)
    for (uint32_t i = 0; i < size; ++i) largest = std::max(largest, in_row[i]);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = 0; i < size; ++i) {
      out_row[i] = std::exp(in_row[i] - largest);
      sum += out_row[i];
    }
    const float scale = 1.0f / sum;
#pragma omp simd
    for (uint32_t i = 0; i < size; ++i) out_row[i] *= scale;
  }
}

}  // namespace metalloid::kernels
