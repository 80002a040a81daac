// The vector engine at run time: how threadgroups are cut into groups, who waits for whom, what goes wrong.
#include <stdlib.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "cpu/vector/plan.hpp"
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

using vector::LanePositions;
using vector::Variant;

constexpr uint32_t widths[] = {256, 128, 64, 32, 16, 8, 1};

// A variable of the environment, as long as this object lives.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Setting() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

struct VectorKernel {
  VectorKernel(const std::string& source, uint32_t width)
      : engine("METALLOID_ENGINE", "vector"), lanes("METALLOID_WIDTH", std::to_string(width)), kernel(source) {
    EXPECT_TRUE(kernel.pipeline) << kernel.error;
  }
  Setting engine, lanes;
  Kernel kernel;
};

Kernel reference_kernel(const std::string& source) {
  const Setting engine("METALLOID_ENGINE", "reference");
  return Kernel(source);
}

TEST(LanePositionsOf, ThreadgroupsThatAreRows) {
  for (const device::Size size : {device::Size{32, 1, 1}, {64, 4, 2}, {1024, 1, 1}})
    EXPECT_EQ(vector::variant_for(size, 32), Variant{.width = 32}) << size.x;
  for (const device::Size size : {device::Size{1, 1, 1}, {37, 1, 1}})
    EXPECT_EQ(vector::variant_for(size, 32), (Variant{.width = 32, .is_aligned = false})) << size.x;
  EXPECT_EQ(vector::variant_for({3, 5, 7}, 1), Variant{.width = 1});
  EXPECT_EQ(vector::variant_for({8, 8, 1}, 8), Variant{.width = 8});
}

TEST(LanePositionsOf, ThreadgroupsThatAreBlocks) {
  const auto blocks = [](uint32_t width, uint8_t log2_x, uint8_t log2_y) {
    return Variant{.width = width, .positions = LanePositions::blocks, .log2_x = log2_x, .log2_y = log2_y};
  };
  EXPECT_EQ(vector::variant_for({16, 16, 1}, 32), blocks(32, 4, 1));
  EXPECT_EQ(vector::variant_for({16, 5, 1}, 32), blocks(32, 4, 1)) << "rows never start again in one layer";
  EXPECT_EQ(vector::variant_for({8, 12, 3}, 32), blocks(32, 3, 2)) << "layers are whole groups";
  EXPECT_EQ(vector::variant_for({4, 4, 4}, 32), blocks(32, 2, 2));
  EXPECT_EQ(vector::variant_for({1, 64, 1}, 16), blocks(16, 0, 4));
}

TEST(LanePositionsOf, OtherThreadgroupsComeFromATable) {
  for (const device::Size size : {device::Size{6, 6, 1}, {48, 2, 1}, {4, 3, 5}, {33, 2, 1}})
    EXPECT_EQ(vector::variant_for(size, 32).positions, LanePositions::any) << size.x;
}

TEST(VectorEngine, GivesEveryThreadItsPlace) {
  const std::string source = R"(
    kernel void f(device uint* out, uint3 grid [[thread_position_in_grid]], uint3 size [[threads_per_grid]],
                  uint3 inside [[thread_position_in_threadgroup]], uint3 group [[threadgroup_position_in_grid]],
                  uint3 threads [[threads_per_threadgroup]], uint index [[thread_index_in_threadgroup]],
                  uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                  uint quad [[quadgroup_index_in_threadgroup]], uint in_quad [[thread_index_in_quadgroup]]) {
      device uint* mine = out + ((grid.z * size.y + grid.y) * size.x + grid.x) * 8;
      mine[0] = inside.x + inside.y * 1000 + inside.z * 1000000;
      mine[1] = group.x + group.y * 1000 + group.z * 1000000;
      mine[2] = threads.x + threads.y * 1000 + threads.z * 1000000;
      mine[3] = index;
      mine[4] = lane;
      mine[5] = simdgroup;
      mine[6] = quad;
      mine[7] = in_quad;
    })";
  const Launch launches[] = {
      {{64, 1, 1}, {64, 1, 1}, {}},  {{1000, 1, 1}, {96, 1, 1}, {}}, {{40, 33, 1}, {16, 16, 1}, {}},
      {{64, 6, 5}, {32, 4, 2}, {}},  {{9, 9, 9}, {4, 4, 4}, {}},     {{20, 20, 1}, {6, 6, 1}, {}},
      {{3, 50, 2}, {1, 40, 1}, {}},  {{7, 5, 3}, {16, 8, 8}, {}},    {{100, 3, 2}, {48, 2, 1}, {}},
      {{13, 11, 10}, {4, 3, 5}, {}}, {{300, 1, 1}, {128, 1, 1}, {}}, {{70, 40, 1}, {32, 8, 1}, {}},
      {{50, 9, 9}, {16, 4, 4}, {}},  {{260, 3, 2}, {192, 1, 2}, {}}};
  Kernel expected = reference_kernel(source);
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    for (Launch launch : launches) {
      std::vector<uint32_t> out(launch.grid.count() * 8, ~0u), right = out;
      launch.arguments = {buffer(right)};
      ASSERT_EQ(expected.run(launch), "");
      launch.arguments = {buffer(out)};
      ASSERT_EQ(vector.kernel.run(launch), "");
      EXPECT_EQ(out, right) << "width " << width << ", threadgroups of " << launch.threadgroup.x << " × "
                            << launch.threadgroup.y << " × " << launch.threadgroup.z;
    }
  }
}

// Several of them in one call.
TEST(VectorEngine, ThreadgroupsThatAKernelCannotTellApartAllRunOnce) {
  const std::string source = R"(
    kernel void f(device uint* out, uint3 at [[thread_position_in_grid]], uint3 grid [[threads_per_grid]],
                  uint lane [[thread_index_in_simdgroup]]) {
      const uint i = at.x + grid.x * (at.y + grid.y * at.z);
      out[i] += i * 64 + lane;
    })";
  const Launch launches[] = {{{64 * 64, 1, 1}, {64, 1, 1}, {}},        {{100'000, 1, 1}, {256, 1, 1}, {}},
                             {{32 * 333, 1, 1}, {32, 1, 1}, {}},       {{48 * 200, 1, 1}, {48, 1, 1}, {}},
                             {{1024 * 9 + 5, 3, 1}, {1024, 1, 1}, {}}, {{256 * 20 + 100, 3, 4}, {256, 1, 1}, {}},
                             {{256 * 20, 6, 2}, {128, 2, 1}, {}}};
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    for (Launch launch : launches) {
      std::vector<uint32_t> out(launch.grid.count(), 7);
      launch.arguments = {buffer(out)};
      ASSERT_EQ(vector.kernel.run(launch), "");
      for (uint32_t i = 0; i < out.size(); ++i) {
        const uint32_t in_threadgroup = i % launch.grid.x % launch.threadgroup.x, row = i / launch.grid.x;
        const uint32_t length = std::min(launch.threadgroup.x, launch.grid.x - (i % launch.grid.x - in_threadgroup));
        const uint32_t lane = (in_threadgroup + length * (row % launch.grid.y % launch.threadgroup.y)) % 32;
        ASSERT_EQ(out[i], 7 + i * 64 + lane) << "width " << width << ", grid of " << launch.grid.x << ", thread " << i;
      }
    }
  }
}

// Tree reductions of threadgroups that are one group, and of those that are not quite.
TEST(VectorEngine, WholeThreadgroupsNeedNoBarriers) {
  const std::string source = R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
                  uint at [[thread_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]]) {
      threadgroup uint shared[256];
      for (uint round = 0; round < 3; ++round) {
        shared[l] = at + simdgroup + round;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint stride = n / 2; stride > 0; stride /= 2) {
          if (l < stride) shared[l] += shared[l + stride];
          threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        out[at] += shared[l] + shared[0];
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
    })";
  Kernel expected = reference_kernel(source);
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    for (const uint32_t threads : {256u, 128u, 64u, 32u}) {
      std::vector<uint32_t> out(1024, 0), right = out;
      ASSERT_EQ(expected.run({{1024, 1, 1}, {threads, 1, 1}, {buffer(right)}}), "");
      ASSERT_EQ(vector.kernel.run({{1024, 1, 1}, {threads, 1, 1}, {buffer(out)}}), "");
      EXPECT_EQ(out, right) << "width " << width << ", threadgroups of " << threads;
    }
  }
}

TEST(VectorEngine, GroupsMeetAtBarriersThatOthersHaveLeftTheKernelBefore) {
  const std::string source = R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
      threadgroup uint shared[256];
      shared[l] = l + g;
      if (l / 32 == 1) return;
      for (uint i = 0; i < 10; ++i) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint next = shared[(l + 64) % n];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        shared[l] = next + 1;
      }
      out[g * n + l] = shared[l];
    })";
  Kernel expected = reference_kernel(source);
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    for (const uint32_t size : {32u, 64u, 256u, 128u}) {
      std::vector<uint32_t> out(size * 50), right = out;
      ASSERT_EQ(expected.run({{size * 50, 1, 1}, {size, 1, 1}, {buffer(right)}}), "");
      ASSERT_EQ(vector.kernel.run({{size * 50, 1, 1}, {size, 1, 1}, {buffer(out)}}), "");
      EXPECT_EQ(out, right) << "width " << width << ", threadgroups of " << size;
    }
  }
}

TEST(VectorEngine, GroupsMayWaitForWhatOthersWrite) {
  const std::string source = R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]],
                  uint s [[simdgroup_index_in_threadgroup]], uint n [[simdgroups_per_threadgroup]]) {
      threadgroup atomic_uint turn;
      if (l == 0) atomic_store_explicit(&turn, n - 1, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      while (atomic_load_explicit(&turn, memory_order_relaxed) != s) {}
      out[l] = l;
      if (l % 32 == 0) atomic_fetch_sub_explicit(&turn, 1, memory_order_relaxed);
    })";
  VectorKernel vector(source, 32);
  std::vector<uint32_t> out(256);
  EXPECT_EQ(vector.kernel.run({{256, 1, 1}, {256, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(out[255], 255u);
}

TEST(VectorEngine, StartsThreadgroupMemoryAnew) {
  const std::string source = R"(
    kernel void f(device uint* out, uint l [[thread_index_in_threadgroup]], uint i [[thread_position_in_grid]],
                  threadgroup uint* dynamic [[threadgroup(0)]]) {
      threadgroup uint shared[64];
      shared[63 - l] = i;
      dynamic[l] = i;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[i] = shared[l] * 10000 + dynamic[63 - l];
    })";
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    std::vector<uint32_t> out(64 * 20);
    ASSERT_EQ(vector.kernel.run({{64 * 20, 1, 1}, {64, 1, 1}, {buffer(out), threadgroup_bytes(256)}}), "");
    for (uint32_t i = 0; i < out.size(); ++i) {
      const uint32_t partner = i / 64 * 64 + 63 - i % 64;
      EXPECT_EQ(out[i], partner * 10001) << i;
    }
  }
}

TEST(VectorEngine, GoesOnAfterAFaultInOneOfManyWaitingGroups) {
  const std::string source = R"(
    kernel void f(device uint* out, device const uint* bad, uint l [[thread_index_in_threadgroup]],
                  uint g [[threadgroup_position_in_grid]]) {
      threadgroup uint shared[256];
      shared[l] = l;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      uint x = shared[255 - l];
      if (g == 3 && l >= 160) x += *bad;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[l] = x;
    })";
  for (const uint32_t width : widths) {
    VectorKernel vector(source, width);
    uint32_t good = 0;
    for (int i = 0; i < 10; ++i) {
      std::vector<uint32_t> out(256);
      EXPECT_EQ(vector.kernel.run({{256 * 8, 1, 1}, {256, 1, 1}, {buffer(out), device::Argument{64, 4}}}),
                "kernel 'f' accessed invalid memory at address 0x40 in threadgroup (3, 0, 0)");
      EXPECT_EQ(vector.kernel.run({{256, 1, 1}, {256, 1, 1}, {buffer(out), bytes(good)}}), "");
      EXPECT_EQ(out[0], 255u);
    }
  }
}

TEST(VectorEngine, LogsWithTheNameOfTheKernel) {
  for (const uint32_t width : widths) {
    VectorKernel vector(R"(
      #include <metal_logging>
      kernel void f(uint i [[thread_position_in_grid]]) { if (i % 16 == 5) os_log_default.log("thread %u", i); })",
                        width);
    ASSERT_EQ(vector.kernel.run({{64, 1, 1}, {32, 1, 1}, {}}), "");
    ASSERT_EQ(vector.kernel.logs.size(), 4u) << width;
    EXPECT_EQ(vector.kernel.logs[0].kernel, "f");
  }
}

TEST(VectorEngine, RunsDispatchesThatNeedTheSameVariantAtTheSameTime) {
  VectorKernel vector("kernel void f(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = i; }", 32);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      const auto queue = shared_device().make_queue();
      std::vector<uint32_t> out(50);
      device::CommandList list;
      list.commands.push_back(vector.kernel.dispatch({{50, 1, 1}, {50, 1, 1}, {buffer(out)}}, list));
      EXPECT_TRUE(vector.kernel.carry_out(*queue, std::move(list)).faults.empty());
      EXPECT_EQ(out[49], 49u);
    });
  for (std::thread& thread : threads) thread.join();
}

device::PipelineRequest archived_request() {
  device::PipelineRequest request;
  request.kernel = {
      library_of("kernel void f(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = i; }"), "f", {}};
  request.archives = {std::make_shared<Archive>()};
  return request;
}

TEST(VectorEngine, KeepsEachVariantInArchives) {
  const Setting engine("METALLOID_ENGINE", "vector"), lanes("METALLOID_WIDTH", "8");
  const device::PipelineRequest request = archived_request();
  const auto archive = std::static_pointer_cast<Archive>(request.archives.front());
  Kernel first(request);
  ASSERT_TRUE(first.pipeline) << first.error;
  EXPECT_EQ(archive->entries.size(), 1u);
  std::vector<uint32_t> out(12);
  EXPECT_EQ(first.run({{12, 1, 1}, {8, 1, 1}, {buffer(out)}}), "");
  EXPECT_EQ(archive->entries.size(), 2u) << "and one for partial groups";
}

TEST(VectorEngine, CompilesWhatADispatchNeedsThoughThePipelineWasToComeFromAnArchive) {
  const Setting engine("METALLOID_ENGINE", "vector"), lanes("METALLOID_WIDTH", "8");
  device::PipelineRequest request = archived_request();
  ASSERT_TRUE(Kernel(request).pipeline);
  request.only_from_archives = true;
  Kernel second(request);
  ASSERT_TRUE(second.pipeline) << second.error;
  std::vector<uint32_t> out(12);
  EXPECT_EQ(second.run({{12, 1, 1}, {8, 1, 1}, {buffer(out)}}), "");
}

// Groups have fewer lanes than usual if all that they write is words.
TEST(VectorEngine, WritesAllOfAGridThatCachesDoNotHold) {
  constexpr uint32_t threads = (1 << 23) + 100, n = threads - 50;
  std::vector<uint32_t> in(threads), words(threads);
  std::vector<uint8_t> small(threads);
  for (uint32_t i = 0; i < threads; ++i) in[i] = i * 7 + 1;
  const Setting engine("METALLOID_ENGINE", "vector");
  for (const bool has_bytes : {false, true}) {
    Kernel kernel(R"(
      kernel void f(device uint* words, device const uint* in, device uchar* small, constant uint& n,
                    uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
        if (i >= n) return;
        words[i] = in[i] * 3 + lane;
        )" + std::string(has_bytes ? "small[i] = in[i] + lane; }" : "}"));
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    for (const uint32_t threadgroup : {256, 48, 1000}) {
      std::ranges::fill(words, 5);
      std::ranges::fill(small, 5);
      const std::string fault =
          kernel.run({{threads, 1, 1}, {threadgroup, 1, 1}, {buffer(words), buffer(in), buffer(small), bytes(n)}});
      ASSERT_EQ(fault, "");
      for (uint32_t i = 0; i < threads; ++i) {
        const uint32_t lane = i % threadgroup % 32;
        ASSERT_EQ(words[i], i < n ? in[i] * 3 + lane : 5) << threadgroup << ", " << i;
        ASSERT_EQ(small[i], has_bytes && i < n ? uint8_t(in[i] + lane) : 5) << threadgroup << ", " << i;
      }
    }
  }
}

TEST(VectorEngine, WritesPastCachesAndFetchesAheadWhereAKernelAsksForIt) {
  const char* source = R"(
    kernel void f(device uint* out, device const uint* in, uint i [[thread_position_in_grid]]) {
      __builtin_prefetch(in + i + 4096, 0, 2);
      __builtin_prefetch(in + i * 1000, 0, 2);
      __builtin_nontemporal_store(in[i] + 1, out + i);
    })";
  for (const char* name : {"vector", "reference"}) {
    const Setting engine("METALLOID_ENGINE", name);
    Kernel kernel(source);
    ASSERT_TRUE(kernel.pipeline) << kernel.error;
    std::vector<uint32_t> in(1001), out(1001);
    for (uint32_t i = 0; i < in.size(); ++i) in[i] = i * i;
    EXPECT_EQ(kernel.run({{1001, 1, 1}, {64, 1, 1}, {buffer(out), buffer(in)}}), "");
    for (uint32_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], i * i + 1);
  }
}

TEST(VectorEngine, LeavesRecursiveFunctionsInWhichLanesMeetToTheReferenceEngine) {
  const char* source = R"(
    uint depth(uint n) { return n == 0 ? 0 : depth(n - 1) + simd_sum(1u); }
    kernel void f(device uint* out, uint i [[thread_position_in_grid]]) { out[i] = depth(i % 2); })";
  const Setting engine("METALLOID_ENGINE", "vector");
  Kernel kernel(source);
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<uint32_t> out(32);
  EXPECT_EQ(kernel.run({{32, 1, 1}, {32, 1, 1}, {buffer(out)}}), "");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 * 16);
  const Setting lanes("METALLOID_WIDTH", "32");
  const std::string error = Kernel(source).error;
  EXPECT_NE(error.find("'f' calls 'metal.simd_sum.u32' in a recursive function"), std::string::npos) << error;
}

TEST(VectorEngine, RefusesSettingsThatItDoesNotKnow) {
  const char* source = "kernel void f(device uint* out) { *out = 1; }";
  {
    const Setting engine("METALLOID_ENGINE", "vectr");
    EXPECT_EQ(Kernel(source).error, "METALLOID_ENGINE is 'vectr'; it can be 'vector' or 'reference'");
  }
  const Setting engine("METALLOID_ENGINE", "vector"), width("METALLOID_WIDTH", "12");
  EXPECT_EQ(Kernel(source).error, "METALLOID_WIDTH is '12'; it can be 256, 128, 64, 32, 16, 8 or 1");
}

}  // namespace
}  // namespace metalloid::cpu
