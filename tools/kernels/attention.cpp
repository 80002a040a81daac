#include <algorithm>
#include <cmath>
#include <vector>

#include "loops.hpp"

namespace metalloid::kernels {

void attention(const float* __restrict queries, const float* __restrict keys, const float* __restrict values,
               float* __restrict out, uint32_t length, float scale) {
  constexpr uint32_t depth = 64;
#pragma omp parallel
  {
    std::vector<float> scores(length);
#pragma omp for
    for (uint32_t row = 0; row < length; ++row) {
      float largest = -INFINITY;
      for (uint32_t i = 0; i < length; ++i) {
        float score = 0;
#pragma omp simd reduction(+ : score)
        for (uint32_t j = 0; j < depth; ++j) score += queries[row * depth + j] * keys[i * depth + j];
        scores[i] = scale * score;
        largest = std::max(largest, scores[i]);
      }
      float total = 0;
#pragma omp simd reduction(+ : total)
      for (uint32_t i = 0; i < length; ++i) {
        scores[i] = std::exp(scores[i] - largest);
        total += scores[i];
      }
      float sums[depth] = {};
      for (uint32_t i = 0; i < length; ++i)
#pragma omp simd
        for (uint32_t j = 0; j < depth; ++j) sums[j] += scores[i] * values[i * depth + j];
      for (uint32_t j = 0; j < depth; ++j) out[row * depth + j] = sums[j] / total;
    }
  }
}

}  // namespace metalloid::kernels
