#include <utility>

#include "loops.hpp"

namespace metalloid::kernels {

void sort(uint32_t* keys, uint32_t size) {
  for (uint32_t run = 2; run <= size; run *= 2)
    for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
#pragma omp parallel for
      for (uint32_t i = 0; i < size / 2; ++i) {
        const uint32_t low = 2 * i - (i & (distance - 1));
        const bool ascending = (i & (run / 2)) == 0;
        if ((keys[low] > keys[low + distance]) == ascending) std::swap(keys[low], keys[low + distance]);
      }
    }
}

}  // namespace metalloid::kernels
