#include <cmath>

#include "loops.hpp"

namespace metalloid::kernels {

void add(const float* __restrict x, const float* __restrict y, float* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = x[i] + y[i];
}

void exponential(const float* __restrict x, float* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = std::exp(x[i]);
}

static inline float gelu(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.7978845608f * x * (1.0f + 0.044715f * x * x)));
}

void gelu_float(const float* __restrict x, float* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = gelu(x[i]);
}

void gelu_half(const Half* __restrict x, Half* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = static_cast<Half>(gelu(static_cast<float>(x[i])));
}

}  // namespace metalloid::kernels
