#include "loops.hpp"

namespace metalloid::kernels {

void matvec(const float* __restrict matrix, const float* __restrict vector, float* __restrict out, uint32_t rows,
            uint32_t width) {
#pragma omp parallel for
  for (uint32_t row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = 0; i < width; ++i) sum += matrix[row * width + i] * vector[i];
    out[row] = sum;
  }
}

void matvec_q4(const Block* __restrict matrix, const float* __restrict vector, float* __restrict out, uint32_t rows,
               uint32_t width) {
  const uint32_t blocks = width / 32;
#pragma omp parallel for
  for (uint32_t row = 0; row < rows; ++row) {
    float sum = 0;
    for (uint32_t i = 0; i < blocks; ++i) {
      const Block& block = matrix[row * blocks + i];
      const float* x = vector + i * 32;
      float block_sum = 0;
#pragma omp simd reduction(+ : block_sum)
      for (uint32_t j = 0; j < 16; ++j)
        block_sum += x[j] * static_cast<float>((block.quants[j] & 15) - 8) +
                     x[j + 16] * static_cast<float>((block.quants[j] >> 4) - 8);
      sum += static_cast<float>(block.scale) * block_sum;
    }
    out[row] = sum;
  }
}

}  // namespace metalloid::kernels
