#include "mps/libraries/cpu/pixels.hpp"

#include <algorithm>
#include <cstring>

// As threads.cpp has them, or the OpenMP runtime that the program brought along.
extern "C" void GOMP_parallel(void (*work)(void*), void* data, unsigned threads, unsigned flags);
extern "C" int omp_get_num_threads();
extern "C" int omp_get_thread_num();

namespace metalloid::mps::cpu {
namespace {

// Calls `work` with the first and last of each thread's share.
template <class Work>
void share(size_t count, const Work& work) {
  struct Call {
    size_t count;
    const Work& work;
  } call{count, work};
  GOMP_parallel(
      [](void* data) {
        const auto& call = *static_cast<const Call*>(data);
        const auto threads = size_t(omp_get_num_threads()), number = size_t(omp_get_thread_num());
        const size_t part = (call.count + threads - 1) / threads, first = std::min(number * part, call.count);
        call.work(first, std::min(first + part, call.count));
      },
      &call, 0, 0);
}

}  // namespace

void pack(const float* stored, float* packed, const Pixels& pixels) {
  share(pixels.count, [&](size_t first, size_t last) {
    const auto [count, channels, room] = pixels;
    size_t i = first;
    // Whole vectors, where the next pixel is written over what is too much.
    if (channels == 3 && room == 4)
      for (; i + 1 < last; ++i) std::memcpy(packed + i * 3, stored + i * 4, 4 * sizeof(float));
    for (; i < last; ++i) std::memcpy(packed + i * channels, stored + i * room, channels * sizeof(float));
  });
}

void unpack(const float* packed, float* stored, const Pixels& pixels) {
  share(pixels.count, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i)
      std::memcpy(stored + i * pixels.stored, packed + i * pixels.channels, pixels.channels * sizeof(float));
  });
}

}  // namespace metalloid::mps::cpu
