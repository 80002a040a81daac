#include "loops.hpp"

namespace metalloid::kernels {

void scan(const uint32_t* __restrict x, uint32_t* __restrict out, uint32_t size) {
  uint32_t sum = 0;
#pragma omp parallel for reduction(inscan, + : sum)
  for (uint32_t i = 0; i < size; ++i) {
    sum += x[i];
#pragma omp scan inclusive(sum)
    out[i] = sum;
  }
}

}  // namespace metalloid::kernels
