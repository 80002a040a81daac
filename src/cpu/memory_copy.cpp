#include "cpu/memory_copy.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "cpu/sanitizers.hpp"

namespace metalloid::cpu {

namespace {

constexpr uint64_t block = 64 << 10;
constexpr uint64_t least_for_all_threads = 4 * block;
constexpr uint64_t few_blocks = 8;  // less than the caches of any core that is worth asking
constexpr uint64_t least_past_caches = 4 << 20;

// Calls `body(first, count)` for blocks of the bytes, on all threads if they are many.
template <class Body>
void for_each_block(ThreadPool& pool, uint64_t bytes, const Body& body) {
  if (bytes < least_for_all_threads) return body(0, bytes);
  struct Work {
    const Body& body;
    uint64_t bytes;
  } work{body, bytes};
  hand_over(&work);
  run_ranges(
      pool, 0, (bytes + block - 1) / block, Order::to_and_fro, few_blocks,
      [](void* argument, uint64_t first, uint64_t last) {
        take_over(argument);
        const Work& given = *static_cast<const Work*>(argument);
        const uint64_t start = first * block;
        given.body(start, std::min(last * block, given.bytes) - start);
        hand_over(argument);
      },
      &work);
  take_over(&work);
}

void copy_past_caches(std::byte* destination, const std::byte* source, uint64_t bytes) {
#if defined(__x86_64__)
  constexpr uint64_t line = 64;
  const uint64_t before = std::min((line - reinterpret_cast<uintptr_t>(destination) % line) % line, bytes);
  std::memcpy(destination, source, before);
  uint64_t done = before;
  for (; done + line <= bytes; done += line) {
    const auto* from = reinterpret_cast<const __m128i*>(source + done);
    auto* to = reinterpret_cast<__m128i*>(destination + done);
    const __m128i a = _mm_loadu_si128(from), b = _mm_loadu_si128(from + 1), c = _mm_loadu_si128(from + 2),
                  d = _mm_loadu_si128(from + 3);
    _mm_stream_si128(to, a);
    _mm_stream_si128(to + 1, b);
    _mm_stream_si128(to + 2, c);
    _mm_stream_si128(to + 3, d);
  }
  std::memcpy(destination + done, source + done, bytes - done);
  _mm_sfence();
#else
  std::memcpy(destination, source, bytes);
#endif
}

}  // namespace

void copy_memory(ThreadPool& pool, void* destination, const void* source, uint64_t bytes) {
  auto* to = static_cast<std::byte*>(destination);
  const auto* from = static_cast<const std::byte*>(source);
  const auto apart = [](const std::byte* a, const std::byte* b) {
    return reinterpret_cast<uintptr_t>(b) - reinterpret_cast<uintptr_t>(a);
  };
  if (apart(to, from) < bytes || apart(from, to) < bytes) {
    std::memmove(to, from, bytes);
    return;
  }
  for_each_block(pool, bytes, [=](uint64_t first, uint64_t count) {
    if (bytes >= least_past_caches)
      copy_past_caches(to + first, from + first, count);
    else
      std::memcpy(to + first, from + first, count);
  });
}

void fill_memory(ThreadPool& pool, void* destination, uint8_t value, uint64_t bytes) {
  auto* to = static_cast<std::byte*>(destination);
  for_each_block(pool, bytes, [=](uint64_t first, uint64_t count) { std::memset(to + first, value, count); });
}

}  // namespace metalloid::cpu
