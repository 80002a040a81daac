#include "loops.hpp"

namespace metalloid::kernels {

void histogram(const uint8_t* bytes, uint32_t* counts, uint32_t size) {
#pragma omp parallel for reduction(+ : counts[ : 256])
  for (uint32_t i = 0; i < size; ++i) ++counts[bytes[i]];
}

}  // namespace metalloid::kernels
