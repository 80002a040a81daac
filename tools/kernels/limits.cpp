// What the machine can do at most: how fast memory is copied, and how many multiply-adds its cores do.
#include <array>

#include "loops.hpp"
#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace metalloid::kernels {

void copy(const float* __restrict x, float* __restrict out, uint32_t size) {
#pragma omp parallel for simd
  for (uint32_t i = 0; i < size; ++i) out[i] = x[i];
}

// A line at a time where registers are as long: in pieces, processors of today do not always put one together in time.
void copy_streaming(const float* __restrict x, float* __restrict out, uint32_t size) {
#ifdef __SSE2__
  constexpr uint32_t line = 16;
#pragma omp parallel for
  for (uint32_t start = 0; start < size; start += line) {
#if defined __AVX512F__
    _mm512_stream_ps(out + start, _mm512_loadu_ps(x + start));
#elif defined __AVX__
    for (uint32_t i = start; i < start + line; i += 8) _mm256_stream_ps(out + i, _mm256_loadu_ps(x + i));
#else
    for (uint32_t i = start; i < start + line; i += 4) _mm_stream_ps(out + i, _mm_loadu_ps(x + i));
#endif
  }
  _mm_sfence();
#else
  copy(x, out, size);
#endif
}

// As wide as the machine's registers, and enough of them in flight to hide an addition's latency.
#if defined __AVX512F__
constexpr int width = 16;
#elif defined __AVX__
constexpr int width = 8;
#else
constexpr int width = 4;
#endif
using Vector [[gnu::vector_size(width * sizeof(float))]] = float;
constexpr int in_flight = 10;

// Every step is 2^20 multiply-adds of single numbers, divided among the cores.
void multiply_add(float* out, uint32_t steps) {
  constexpr int times = (1 << 20) / (width * in_flight);
#pragma omp parallel for
  for (uint32_t step = 0; step < steps; ++step) {
    std::array<Vector, in_flight> sums;
    const Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f * static_cast<float>(step % 7);
#pragma GCC unroll in_flight
    for (int i = 0; i < in_flight; ++i) sums[i] = addend + static_cast<float>(i);  // equal ones would become one
    for (int i = 0; i < times; ++i)
#pragma GCC unroll in_flight
      for (Vector& sum : sums) sum = sum * factor + addend;
    Vector total{};
    for (const Vector& sum : sums) total += sum;
    out[step] = total[0];
  }
}

}  // namespace metalloid::kernels
