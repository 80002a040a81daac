#include "cpu/memory_copy.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

namespace metalloid::cpu {
namespace {

std::vector<uint8_t> random_bytes(size_t count) {
  std::mt19937 random(static_cast<uint32_t>(count));
  std::vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

// None, a few, on one thread, on all, past the caches; not in whole blocks or lines.
constexpr size_t sizes[] = {0, 1, 63, 64, 1000, 65536, 262143, 262144, 1000003, (4 << 20) - 1, (4 << 20) + 77, 9 << 20};
constexpr size_t margin = 128;

TEST(MemoryCopy, CopiesAllBytesAndNoOthers) {
  ThreadPool pool(3);
  for (const size_t size : sizes)
    for (const auto& [to, from] : {std::pair<size_t, size_t>{0, 0}, {1, 0}, {0, 1}, {63, 17}}) {
      const std::vector<uint8_t> source = random_bytes(size + margin);
      std::vector<uint8_t> destination(size + 2 * margin, 0xee), expected = destination;
      std::memcpy(expected.data() + to, source.data() + from, size);
      copy_memory(pool, destination.data() + to, source.data() + from, size);
      ASSERT_TRUE(destination == expected) << size << " bytes, from " << from << " to " << to;
    }
}

TEST(MemoryCopy, MovesWhereTheTwoOverlap) {
  ThreadPool pool(3);
  for (const size_t size : {size_t{1000}, size_t{1} << 20, size_t{5} << 20})
    for (const auto& [to, from] : {std::pair<size_t, size_t>{0, 100}, {100, 0}, {0, 0}, {size / 2, 0}, {0, size / 2}}) {
      std::vector<uint8_t> bytes = random_bytes(2 * size), expected = bytes;
      std::memmove(expected.data() + to, expected.data() + from, size);
      copy_memory(pool, bytes.data() + to, bytes.data() + from, size);
      ASSERT_TRUE(bytes == expected) << size << " bytes, from " << from << " to " << to;
    }
}

TEST(MemoryCopy, FillsAllBytesAndNoOthers) {
  ThreadPool pool(3);
  for (const size_t size : sizes) {
    std::vector<uint8_t> bytes(size + 2 * margin, 0xee), expected = bytes;
    std::memset(expected.data() + 5, 0x31, size);
    fill_memory(pool, bytes.data() + 5, 0x31, size);
    ASSERT_TRUE(bytes == expected) << size << " bytes";
  }
}

}  // namespace
}  // namespace metalloid::cpu
