// What a thread is told about its place in the grid, for grids and threadgroups of odd sizes, ragged ones included.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

TEST(Grid, RunsEveryThreadOnce) {
  Kernel kernel(R"(
    kernel void f(device const float* a, device const float* b, device float* out, uint i [[thread_position_in_grid]]) {
      out[i] += a[i] + b[i];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> a(10007), b(10007), out(10007);
  for (size_t i = 0; i < a.size(); ++i) a[i] = i, b[i] = 2 * i + 1;
  EXPECT_EQ(kernel.run({{10007, 1, 1}, {256, 1, 1}, {buffer(a), buffer(b), buffer(out)}}), "");
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(out[i], 3 * i + 1) << i;
}

struct Seen {
  uint32_t position[3], local[3], group[3], groups[3], threads[3], size[3], full_size[3];
  uint32_t index, lane, quad_lane, simdgroup, simdgroups, full_simdgroups, width, quad, quads, full_quads;
};

constexpr const char* every_value = R"(
    struct Seen {
      uint position[3], local[3], group[3], groups[3], threads[3], size[3], full_size[3];
      uint index, lane, quad_lane, simdgroup, simdgroups, full_simdgroups, width, quad, quads, full_quads;
    };
    void put(device uint* to, uint3 v) { to[0] = v.x; to[1] = v.y; to[2] = v.z; }
    kernel void f(device Seen* out, uint3 position [[thread_position_in_grid]],
                  ushort3 local [[thread_position_in_threadgroup]], uint3 group [[threadgroup_position_in_grid]],
                  ushort3 groups [[threadgroups_per_grid]], uint3 threads [[threads_per_grid]],
                  uint3 size [[threads_per_threadgroup]], ushort3 full_size [[dispatch_threads_per_threadgroup]],
                  uint index [[thread_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]],
                  uint quad_lane [[thread_index_in_quadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                  ushort simdgroups [[simdgroups_per_threadgroup]],
                  uint full_simdgroups [[dispatch_simdgroups_per_threadgroup]], uint width [[thread_execution_width]],
                  uint quad [[quadgroup_index_in_threadgroup]], uint quads [[quadgroups_per_threadgroup]],
                  ushort full_quads [[dispatch_quadgroups_per_threadgroup]]) {
      device Seen& s = out[(position.z * threads.y + position.y) * threads.x + position.x];
      put(s.position, position); put(s.local, uint3(local)); put(s.group, group); put(s.groups, uint3(groups));
      put(s.threads, threads); put(s.size, size); put(s.full_size, uint3(full_size));
      s.index = index; s.lane = lane; s.quad_lane = quad_lane; s.simdgroup = simdgroup; s.simdgroups = simdgroups;
      s.full_simdgroups = full_simdgroups; s.width = width; s.quad = quad; s.quads = quads; s.full_quads = full_quads;
    })";

TEST(Grid, ValuesAreRightForOddAndRaggedSizes) {
  Kernel kernel(every_value);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  const std::pair<device::Size, device::Size> shapes[] = {
      {{1, 1, 1}, {1, 1, 1}}, {{7, 5, 3}, {7, 5, 3}},     {{33, 1, 1}, {32, 1, 1}}, {{100, 7, 2}, {33, 3, 1}},
      {{5, 4, 9}, {8, 8, 8}}, {{64, 64, 1}, {16, 16, 1}}, {{1, 1, 70}, {1, 1, 64}}, {{17, 19, 5}, {4, 4, 4}}};
  for (const auto& [grid, full] : shapes) {
    std::vector<Seen> seen(grid.count());
    ASSERT_EQ(kernel.run({grid, full, {buffer(seen)}}), "");
    const uint32_t g[] = {grid.x, grid.y, grid.z}, f[] = {full.x, full.y, full.z};
    for (uint32_t i = 0; i < seen.size(); ++i) {
      const uint32_t p[] = {i % g[0], i / g[0] % g[1], i / g[0] / g[1]};
      const Seen& s = seen[i];
      uint32_t size[3];
      for (int d = 0; d < 3; ++d) {
        size[d] = std::min(f[d], g[d] - p[d] / f[d] * f[d]);
        ASSERT_EQ(s.position[d], p[d]);
        ASSERT_EQ(s.local[d], p[d] % f[d]);
        ASSERT_EQ(s.group[d], p[d] / f[d]);
        ASSERT_EQ(s.groups[d], (g[d] + f[d] - 1) / f[d]);
        ASSERT_EQ(s.threads[d], g[d]);
        ASSERT_EQ(s.size[d], size[d]);
        ASSERT_EQ(s.full_size[d], f[d]);
      }
      const uint32_t index = (s.local[2] * size[1] + s.local[1]) * size[0] + s.local[0];
      const uint32_t count = size[0] * size[1] * size[2], full_count = f[0] * f[1] * f[2];
      ASSERT_EQ(s.index, index);
      ASSERT_EQ(s.lane, index % 32);
      ASSERT_EQ(s.quad_lane, index % 4);
      ASSERT_EQ(s.simdgroup, index / 32);
      ASSERT_EQ(s.simdgroups, (count + 31) / 32);
      ASSERT_EQ(s.full_simdgroups, (full_count + 31) / 32);
      ASSERT_EQ(s.width, 32u);
      ASSERT_EQ(s.quad, index / 4);
      ASSERT_EQ(s.quads, (count + 3) / 4);
      ASSERT_EQ(s.full_quads, (full_count + 3) / 4);
    }
  }
}

TEST(Grid, PartialSimdgroupsHaveTheLanesThatExist) {
  Kernel kernel(R"(
    kernel void f(device uint* sum, device uint2* lanes, uint i [[thread_position_in_grid]]) {
      sum[i] = simd_sum(1u);
      lanes[i] = uint2(static_cast<ulong>(simd_active_threads_mask()) & 0xffffffff, simd_is_first());
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> sum(77), lanes(154);
  EXPECT_EQ(kernel.run({{77, 1, 1}, {48, 1, 1}, {buffer(sum), buffer(lanes)}}), "");
  for (uint32_t i = 0; i < 77; ++i) {
    const uint32_t expected = i < 32 ? 32 : i < 48 ? 16 : 29;
    EXPECT_EQ(sum[i], expected) << i;
    EXPECT_EQ(lanes[2 * i], expected == 32 ? ~0u : (1u << expected) - 1) << i;
    EXPECT_EQ(lanes[2 * i + 1], i == 0 || i == 32 || i == 48) << i;
  }
}

TEST(Grid, OfNoThreadsDoesNothing) {
  Kernel kernel("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(1);
  EXPECT_EQ(kernel.run({{0, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(kernel.run({{4, 0, 1}, {1, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out[0], 0);
}

TEST(Grid, ThreadgroupsThatAreTooLargeAreAFault) {
  Kernel kernel("kernel void f(device int* out) { out[0] = 1; }");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(1);
  const std::string fault = kernel.run({{2048, 1, 1}, {2048, 1, 1}, {buffer(out)}});
  EXPECT_NE(fault.find("'f' was dispatched with threadgroups of 2048 threads"), fault.npos) << fault;
  EXPECT_NE(kernel.run({{1, 1, 1}, {1 << 22, 1 << 21, 1 << 21}, {buffer(out)}}), "") << "their product is 2^64";
  EXPECT_EQ(out[0], 0);
}

TEST(Grid, IntegerDivisionByZeroGoesOn) {
  Kernel kernel(R"(
    kernel void f(device int* out, device const int* in, uint i [[thread_position_in_grid]]) {
      out[i] = in[i] / in[i + 4] + in[i] % in[i + 4];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> in{7, INT32_MIN, 9, 1, 0, -1, 2, 0}, out(4, -5);
  EXPECT_EQ(kernel.run({{4, 1, 1}, {4, 1, 1}, {buffer(out), buffer(in)}}), "");
  EXPECT_EQ(out[2], 5);
}

}  // namespace
}  // namespace metalloid::cpu
