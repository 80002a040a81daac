#include "loops.hpp"

namespace metalloid::kernels {

void reduction(const float* x, float* out, uint32_t size) {
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (uint32_t i = 0; i < size; ++i) sum += x[i];
  out[0] = sum;
}

}  // namespace metalloid::kernels
