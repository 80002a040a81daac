// Atomics, and threads that wait for one another.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

TEST(Atomics, CountAcrossThreadgroups) {
  Kernel kernel(R"(
    kernel void f(device atomic_uint* count, device atomic_int* largest, device atomic_float* sum,
                  uint i [[thread_position_in_grid]]) {
      atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
      atomic_fetch_max_explicit(largest, int(i * 7919 % 10007), memory_order_relaxed);
      atomic_fetch_add_explicit(sum, 0.5f, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> count(1);
  std::vector<int> largest(1);
  std::vector<float> sum(1);
  EXPECT_EQ(kernel.run({{100000, 1, 1}, {128, 1, 1}, {buffer(count), buffer(largest), buffer(sum)}}), "");
  EXPECT_EQ(count[0], 100000u);
  EXPECT_EQ(largest[0], 10006);
  EXPECT_EQ(sum[0], 50000);
}

TEST(Atomics, HistogramsInThreadgroupMemoryAddUp) {
  Kernel kernel(R"(
    kernel void f(device atomic_uint* bins, device const uchar* data, constant uint& n,
                  uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                  uint size [[threads_per_threadgroup]], uint groups [[threadgroups_per_grid]]) {
      threadgroup atomic_uint ours[16];
      if (l < 16) atomic_store_explicit(&ours[l], 0, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = g * size + l; i < n; i += size * groups)
        atomic_fetch_add_explicit(&ours[data[i] % 16], 1, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (l < 16)
        atomic_fetch_add_explicit(&bins[l], atomic_load_explicit(&ours[l], memory_order_relaxed), memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint8_t> data(100001);
  std::vector<uint32_t> bins(16), expected(16);
  for (size_t i = 0; i < data.size(); ++i) ++expected[(data[i] = static_cast<uint8_t>(i * i >> 3)) % 16];
  const auto n = static_cast<uint32_t>(data.size());
  EXPECT_EQ(kernel.run({{64 * 7, 1, 1}, {64, 1, 1}, {buffer(bins), buffer(data), bytes(n)}}), "");
  EXPECT_EQ(bins, expected);
}

TEST(Progress, AThreadMaySpinUntilALaterOneWrites) {
  Kernel kernel(R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
      threadgroup atomic_uint turn;
      if (l == 0) atomic_store_explicit(&turn, n - 1, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      while (atomic_load_explicit(&turn, memory_order_relaxed) != l) {}  // the last one goes first
      out[l] = n - l;
      atomic_store_explicit(&turn, l - 1, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(256);
  EXPECT_EQ(kernel.run({{256, 1, 1}, {256, 1, 1}, {buffer(out)}}), "");
  for (uint32_t l = 0; l < 256; ++l) EXPECT_EQ(out[l], 256 - l);
}

TEST(Progress, LanesOfASimdgroupTakeALockInTurns) {
  Kernel kernel(R"(
    kernel void f(device uint* sum, device atomic_uint* lock, uint l [[thread_index_in_threadgroup]]) {
      while (atomic_exchange_explicit(lock, 1u, memory_order_relaxed) != 0) {}
      *sum = *sum * 1 + l;
      atomic_store_explicit(lock, 0u, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> sum(1), lock(1);
  EXPECT_EQ(kernel.run({{64, 1, 1}, {64, 1, 1}, {buffer(sum), buffer(lock)}}), "");
  EXPECT_EQ(sum[0], 63u * 64 / 2);
}

TEST(Progress, ALaneThatHoldsALockMeetsWithoutThoseThatWaitForIt) {
  Kernel kernel(R"(
    kernel void f(device uint* sum, device atomic_uint* lock, uint l [[thread_index_in_threadgroup]]) {
      while (atomic_exchange_explicit(lock, 1u, memory_order_relaxed) != 0) {}
      *sum += simd_sum(1u);
      atomic_store_explicit(lock, 0u, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> sum(1), lock(1);
  EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(sum), buffer(lock)}}), "");
  EXPECT_EQ(sum[0], 32u);
}

TEST(Progress, ALockMayBeTakenInALoopThatLanesMeetIn) {
  Kernel kernel(R"(
    kernel void f(device uint* sum, device atomic_uint* lock, uint l [[thread_index_in_threadgroup]]) {
      uint met = 0;
      while (true) {
        if (atomic_exchange_explicit(lock, 1u, memory_order_relaxed) == 0) {
          met = simd_sum(1u);
          break;
        }
      }
      *sum += met;
      atomic_store_explicit(lock, 0u, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> sum(1), lock(1);
  EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(sum), buffer(lock)}}), "");
  EXPECT_EQ(sum[0], 32u);
}

// Whichever side of the branch comes first.
TEST(Progress, LanesMayWaitForThoseOnTheOtherSideOfABranch) {
  for (const char* condition : {"l == 5", "l != 5"}) {
    Kernel kernel(std::string("#define WAITS ") + condition + R"(
      kernel void f(device uint* out, device atomic_uint* flag, uint l [[thread_index_in_threadgroup]]) {
        if (WAITS) {
          while (atomic_load_explicit(flag, memory_order_relaxed) == 0) {}
          out[l] = 1;
        } else {
          atomic_store_explicit(flag, 1u, memory_order_relaxed);
          out[l] = 2;
        }
      })");
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    std::vector<uint32_t> out(32), flag(1);
    EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out), buffer(flag)}}), "") << condition;
  }
}

TEST(Progress, AWidthAtWhichLanesWouldWaitForEverIsRefused) {
  setenv("METALLOID_WIDTH", "16", 1);
  Kernel kernel(R"(
    kernel void f(device uint* sum, device atomic_uint* lock, uint l [[thread_index_in_threadgroup]]) {
      while (atomic_exchange_explicit(lock, 1u, memory_order_relaxed) != 0) {}
      *sum += l;
      atomic_store_explicit(lock, 0u, memory_order_relaxed);
    })");
  unsetenv("METALLOID_WIDTH");
  EXPECT_FALSE(kernel.pipeline);
  EXPECT_NE(kernel.error.find("may wait for one another"), std::string::npos) << kernel.error;
}

TEST(Progress, LanesInLongLoopsWithAtomicsAreWaitedFor) {
  Kernel kernel(R"(
    kernel void f(device uint* out, device atomic_uint* count, uint l [[thread_index_in_threadgroup]]) {
      for (uint i = 0; i < l * 5000; ++i) atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
      out[l] = simd_sum(1u);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(32), count(1);
  EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out), buffer(count)}}), "");
  EXPECT_EQ(out, std::vector<uint32_t>(32, 32));
  EXPECT_EQ(count[0], 5000u * 31 * 16);
}

TEST(Progress, AThreadgroupMayWaitForThoseBeforeItInEveryDispatch) {
  Kernel kernel(R"(
    kernel void f(device atomic_uint* next, constant uint& start, uint l [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
      if (l != 0) return;
      while (atomic_load_explicit(next, memory_order_relaxed) != start + g) {}
      atomic_store_explicit(next, start + g + 1, memory_order_relaxed);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> next(1);
  for (uint32_t dispatch = 0; dispatch < 5; ++dispatch) {
    const uint32_t start = 4000 * dispatch;
    ASSERT_EQ(kernel.run({{4000 * 32, 1, 1}, {32, 1, 1}, {buffer(next), bytes(start)}}), "");
    EXPECT_EQ(next[0], start + 4000);
  }
}

}  // namespace
}  // namespace metalloid::cpu
