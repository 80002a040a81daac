// Threadgroups that fill no SIMD-group: what their threads see, and the code that runs them.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

constexpr const char* places = R"(
kernel void f(device uint* out, uint3 at [[thread_position_in_grid]], uint3 size [[threads_per_grid]],
              uint3 group [[threadgroup_position_in_grid]], uint3 own [[thread_position_in_threadgroup]]) {
  threadgroup_barrier(mem_flags::mem_none);
  const uint place = (at.z * size.y + at.y) * size.x + at.x;
  out[place] = ((group.x * 100 + group.y) * 10 + own.x) * 10 + own.y;
})";

TEST(SmallThreadgroups, OfAnySizeHaveEachThreadInItsPlace) {
  Kernel kernel(places);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  for (const device::Size threadgroup : {device::Size{1, 1, 1},
                                         {2, 1, 1},
                                         {3, 1, 1},
                                         {8, 1, 1},
                                         {9, 1, 1},
                                         {3, 3, 1},
                                         {4, 4, 1},
                                         {8, 2, 1},
                                         {1, 7, 1}}) {
    const uint32_t width = 9 * threadgroup.x + (threadgroup.x > 2 ? 1 : 0), height = 9 * threadgroup.y;
    std::vector<uint32_t> out(width * height);
    EXPECT_EQ(kernel.run({{width, height, 1}, threadgroup, {buffer(out)}}), "");
    for (uint32_t y = 0; y < height; ++y)
      for (uint32_t x = 0; x < width; ++x)
        ASSERT_EQ(out[y * width + x],
                  ((x / threadgroup.x * 100 + y / threadgroup.y) * 10 + x % threadgroup.x) * 10 + y % threadgroup.y)
            << threadgroup.x << " x " << threadgroup.y << ": " << x << ", " << y;
  }
}

TEST(SmallThreadgroups, HaveCodeForAsManyThreadsWhereThereAreMany) {
  ArchivedKernel archived(places);
  std::vector<uint32_t> out(1000);
  const auto run = [&](uint32_t threads, uint32_t threadgroups) {
    EXPECT_EQ(archived.kernel.run({{threads * threadgroups, 1, 1}, {threads, 1, 1}, {buffer(out)}}), "");
    return archived.count(true);
  };
  EXPECT_EQ(archived.count(true), 1u);
  EXPECT_EQ(run(3, 10), 2u) << "a part of 32 lanes";
  EXPECT_EQ(run(5, 10), 2u);
  EXPECT_EQ(run(8, 100), 3u) << "8 lanes";
  EXPECT_EQ(run(3, 100), 4u) << "a part of 8 lanes";
  EXPECT_EQ(run(5, 100), 4u);
  EXPECT_EQ(run(1, 100), 5u) << "one thread at a time";
  EXPECT_EQ(run(1, 10), 5u);
}

TEST(SmallThreadgroups, KeepLanesThatSimdGroupFunctionsNeed) {
  ArchivedKernel archived(R"(
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = simd_sum(i); })");
  std::vector<uint32_t> out(200);
  EXPECT_EQ(archived.kernel.run({{200, 1, 1}, {2, 1, 1}, {buffer(out)}}), "");
  for (uint32_t i = 0; i < 200; ++i) ASSERT_EQ(out[i], i / 2 * 4 + 1);
  EXPECT_EQ(archived.kernel.run({{100, 1, 1}, {1, 1, 1}, {buffer(out)}}), "");
  for (uint32_t i = 0; i < 100; ++i) ASSERT_EQ(out[i], i);
  EXPECT_EQ(archived.count(true), 2u);
}

}  // namespace
}  // namespace metalloid::cpu
