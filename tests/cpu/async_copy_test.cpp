// Tiles that a SIMD-group copies between device and threadgroup memory, by functions declared with the symbols of
// Apple's intermediate code.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

constexpr const char* declarations = R"(
    struct event_t;
    thread event_t* copy_in(ulong, ulong, threadgroup void*, const device void*, ulong)
        __asm("air.simdgroup_async_copy_1d.p3i8.p1i8");
    thread event_t* copy_out(ulong, ulong, device void*, const threadgroup void*, ulong)
        __asm("air.simdgroup_async_copy_1d.p1i8.p3i8");
    thread event_t* copy_in(ulong, ulong, threadgroup void*, ulong, ulong, ulong2, const device void*, ulong, ulong,
                            ulong2, long2, int) __asm("air.simdgroup_async_copy_2d.p3i8.p1i8");
    thread event_t* copy_out(ulong, ulong, device void*, ulong, ulong, ulong2, const threadgroup void*, ulong, ulong,
                             ulong2, long2, int) __asm("air.simdgroup_async_copy_2d.p1i8.p3i8");
    void wait(int, thread event_t**) __asm("air.wait_simdgroup_events");
)";

// Copies a tile of `from` into threadgroup memory, by the first SIMD-group, and has all threads store what is there.
template <class T>
std::vector<T> copied_tile(const std::string& type, const std::string& copy, std::vector<T> from, size_t elements) {
  Kernel kernel(declarations + ("typedef " + type + " T;") + R"(
    kernel void f(device const T* from, device T* to, uint thread_index [[thread_index_in_threadgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
      threadgroup T tile[256];
      for (uint i = thread_index; i < 256; i += 64) tile[i] = T(99);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (simdgroup == 0) {
        thread event_t* event = )" +
                copy + R"(;
        wait(1, &event);
      }
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = thread_index; i < )" +
                std::to_string(elements) + R"(; i += 64) to[i] = tile[i];
    })");
  EXPECT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<T> to(elements);
  if (!kernel.pipeline) return to;
  EXPECT_EQ(kernel.run({{64, 1, 1}, {64, 1, 1}, {buffer(from), buffer(to)}}), "");
  return to;
}

template <class T>
std::vector<T> counted(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = T(i);
  return values;
}

TEST(AsyncCopy, ATileIsPaddedWithZerosWhereTheSourceEnds) {
  const auto to = copied_tile<uint16_t>(
      "ushort", "copy_in(2, 2, tile, 14, 1, ulong2(12, 9), from, 20, 1, ulong2(10, 7), long2(0), 0)",
      counted<uint16_t>(200), 14 * 9);
  for (size_t y = 0; y < 9; ++y)
    for (size_t x = 0; x < 14; ++x)
      EXPECT_EQ(to[14 * y + x], x >= 12 ? 99 : x < 10 && y < 7 ? 20 * y + x : 0) << x << ", " << y;
}

TEST(AsyncCopy, ATileIsPaddedWithTheNearestElementIfAskedTo) {
  const auto to =
      copied_tile<int>("int", "copy_in(4, 4, tile, 40, 1, ulong2(40, 3), from, 50, 1, ulong2(35, 2), long2(0), 1)",
                       counted<int>(100), 40 * 3);
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 40; ++x) EXPECT_EQ(to[40 * y + x], 50 * std::min(y, 1) + std::min(x, 34)) << x << ", " << y;
}

TEST(AsyncCopy, ElementsMayBeLargerThanTheirAlignment) {
  struct Three {
    float x, y, z;
    bool operator==(const Three&) const = default;
  };
  std::vector<Three> from(30);
  for (int i = 0; i < 30; ++i) from[i] = {i + 0.25f, i + 0.5f, i + 0.75f};
  const auto to = copied_tile<Three>(
      "packed_float3", "copy_in(12, 4, tile, 5, 1, ulong2(5, 6), from, 5, 1, ulong2(5, 6), long2(0), 0)", from, 30);
  EXPECT_TRUE(to == from);
}

TEST(AsyncCopy, AnEmptySourceGivesZeros) {
  for (const char* padding : {"0", "1"}) {
    const auto to = copied_tile<uint8_t>(
        "uchar",
        "copy_in(1, 1, tile, 8, 1, ulong2(8, 4), from, 8, 1, ulong2(0, 4), long2(0), " + std::string(padding) + ")",
        counted<uint8_t>(32), 33);
    for (int i = 0; i < 32; ++i) EXPECT_EQ(to[i], 0) << i;
    EXPECT_EQ(to[32], 99);
  }
}

TEST(AsyncCopy, RowsAndTilesGoBackToDeviceMemory) {
  Kernel kernel(declarations + std::string(R"(
    kernel void f(device const long* from, device long* row, device long* tiles,
                  uint simdgroup [[simdgroup_index_in_threadgroup]]) {
      threadgroup long tile[2][70];
      thread event_t* events[2];
      events[0] = copy_in(8, 8, tile[simdgroup], from, 70);
      wait(1, events);
      events[0] = copy_out(8, 8, row + 70 * simdgroup, tile[simdgroup], 70);
      events[1] = copy_out(8, 8, tiles + 5 * simdgroup, 10, 1, ulong2(5, 7), tile[simdgroup], 10, 1, ulong2(5, 7),
                           long2(0), 0);
      wait(2, events);
    })"));
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  auto from = counted<int64_t>(70);
  std::vector<int64_t> row(140), tiles(70);
  EXPECT_EQ(kernel.run({{64, 1, 1}, {64, 1, 1}, {buffer(from), buffer(row), buffer(tiles)}}), "");
  for (int i = 0; i < 140; ++i) EXPECT_EQ(row[i], i % 70) << i;
  for (int i = 0; i < 70; ++i) EXPECT_EQ(tiles[i], i / 10 * 10 + i % 5) << i;
}

}  // namespace
}  // namespace metalloid::cpu
