// Memory of buffers, and what lies around it.
#include "cpu/memory.hpp"

#include <algorithm>

#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

const size_t page = 4096, mebibyte = size_t{1} << 20;

std::unique_ptr<device::Memory> memory_of(size_t bytes) {
  auto memory = allocate_memory(bytes);
  EXPECT_TRUE(memory);
  return memory ? std::move(*memory) : nullptr;
}

TEST(Memory, IsZeroPageAlignedAndFailsCleanly) {
  auto memory = shared_device().allocate(100'000, device::Storage::shared);
  ASSERT_TRUE(memory) << memory.error();
  EXPECT_EQ((*memory)->address % 4096, 0u);
  EXPECT_EQ((*memory)->size, 100'000u);
  const auto* bytes = static_cast<const unsigned char*>((*memory)->host);
  EXPECT_TRUE(std::all_of(bytes, bytes + 100'000, [](unsigned char byte) { return byte == 0; }));
  EXPECT_FALSE(shared_device().allocate(size_t{1} << 60, device::Storage::shared));
  EXPECT_FALSE(shared_device().adopt(nullptr, 100));
  EXPECT_TRUE(shared_device().allocate(0, device::Storage::private_to_device));
}

TEST(Memory, WhatLiesAroundABufferIsZeroAndNobodys) {
  constexpr size_t margin = 64 << 10;
  for (size_t bytes : {size_t{1}, page, 3 * page, mebibyte, 2 * mebibyte, 5 * mebibyte + page}) {
    const auto memory = memory_of(bytes), neighbour = memory_of(bytes);
    auto* start = static_cast<uint8_t*>(memory->host);
    std::memset(neighbour->host, 7, bytes);
    for (uint8_t* at : {start - margin, start - 1, start + bytes, start + bytes + margin - 1}) {
      EXPECT_EQ(*at, 0) << bytes << " bytes, " << at - start;
      *at = 1;
    }
    EXPECT_EQ(*start, 0);
    EXPECT_EQ(start[bytes - 1], 0);
    for (size_t i = 0; i < bytes; i += page) ASSERT_EQ(static_cast<uint8_t*>(neighbour->host)[i], 7) << bytes;
  }
}

TEST(Memory, LargeBuffersBeginAtALargePage) {
  for (size_t bytes : {2 * mebibyte, 3 * mebibyte, 64 * mebibyte + 1})
    EXPECT_EQ(memory_of(bytes)->address % (2 * mebibyte), 0u) << bytes;
}

// As in samplers of images: what is outside is read, too, and then not used.
TEST(Memory, KernelsMayReadALittleOutsideOfABufferIfTheyDoNotUseIt) {
  Kernel kernel(R"(
    kernel void f(device const float* image, device float* out, constant int& width,
                  uint i [[thread_position_in_grid]]) {
      const int above = int(i) - width, below = int(i) + width;
      const float a = image[above], b = image[below];
      out[i] = (above >= 0 ? a : 0.0f) + (below < 4096 ? b : 0.0f);
    })");
  const auto image = memory_of(4096 * sizeof(float)), out = memory_of(4096 * sizeof(float));
  std::fill_n(static_cast<float*>(image->host), 4096, 1.0f);
  const int width = 256;
  EXPECT_EQ(kernel.run({{4096, 1, 1},
                        {256, 1, 1},
                        {device::Argument{image->address, image->size}, device::Argument{out->address, out->size},
                         bytes(width)}}),
            "");
  EXPECT_EQ(static_cast<float*>(out->host)[0], 1);
  EXPECT_EQ(static_cast<float*>(out->host)[300], 2);
  EXPECT_EQ(static_cast<float*>(out->host)[4095], 1);
}

}  // namespace
}  // namespace metalloid::cpu
