#include "loops.hpp"

namespace metalloid::kernels {

void gather(const float* __restrict table, const uint32_t* __restrict indices, float* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = table[indices[i]];
}

void scatter(const float* __restrict x, const uint32_t* __restrict indices, float* __restrict out, uint32_t size) {
#pragma omp parallel for
  for (uint32_t i = 0; i < size; ++i) out[indices[i]] = x[i];
}

}  // namespace metalloid::kernels
