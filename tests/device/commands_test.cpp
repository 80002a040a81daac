// The memory behind a command list: aligned, disjoint, and used again after a reset.
#include "device/commands.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace metalloid::device {
namespace {

TEST(Arena, GivesAlignedMemoryThatDoesNotOverlap) {
  std::mt19937 random(1);
  Arena arena;
  std::vector<std::pair<unsigned char*, size_t>> blocks;
  for (int i = 0; i < 3000; ++i) {
    size_t bytes = i % 100 == 0 ? 200000 : random() % 500;
    size_t alignment = size_t{1} << random() % 8;
    auto* block = static_cast<unsigned char*>(arena.allocate(bytes, alignment));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % alignment, 0u);
    std::memset(block, i % 251, bytes);
    blocks.emplace_back(block, bytes);
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t byte = 0; byte < blocks[i].second; ++byte) ASSERT_EQ(blocks[i].first[byte], i % 251);
}

TEST(Arena, UsesItsMemoryAgainAfterAReset) {
  Arena arena;
  void* first = arena.allocate(100, 16);
  for (int i = 0; i < 1000; ++i) arena.allocate(1000, 8);
  arena.reset();
  EXPECT_EQ(arena.allocate(100, 16), first);
}

TEST(Arena, KeepsTexts) {
  Arena arena;
  EXPECT_STREQ(arena.text("softmax"), "softmax");
  EXPECT_STREQ(arena.text(""), "");
}

}  // namespace
}  // namespace metalloid::device
