#include <cmath>

#include "loops.hpp"

namespace metalloid::kernels {

void rms_norm(const float* __restrict x, const float* __restrict weight, float* __restrict out, uint32_t rows,
              uint32_t size, float epsilon) {
#pragma omp parallel for
  for (uint32_t row = 0; row < rows; ++row) {
    const float* in_row = x + row * size;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (uint32_t i = 0; i < size; ++i) squares += in_row[i] * in_row[i];
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(size) + epsilon);
#pragma omp simd
    for (uint32_t i = 0; i < size; ++i) out[row * size + i] = in_row[i] * scale * weight[i];
  }
}

void layer_norm(const float* __restrict x, const float* __restrict weight, const float* __restrict bias,
                float* __restrict out, uint32_t rows, uint32_t size, float epsilon) {
#pragma omp parallel for
  for (uint32_t row = 0; row < rows; ++row) {
    const float* in_row = x + row * size;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = 0; i < size; ++i) sum += in_row[i];
    const float mean = sum / static_cast<float>(size);
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (uint32_t i = 0; i < size; ++i) squares += (in_row[i] - mean) * (in_row[i] - mean);
    const float scale = 1.0f / std::sqrt(squares / static_cast<float>(size) + epsilon);
#pragma omp simd
    for (uint32_t i = 0; i < size; ++i) out[row * size + i] = (in_row[i] - mean) * scale * weight[i] + bias[i];
  }
}

}  // namespace metalloid::kernels
