// Threadgroup memory and barriers.
#include "run_kernel.hpp"

namespace metalloid::cpu {
namespace {

TEST(Threadgroup, ReversesItsElementsThroughStaticMemory) {
  Kernel kernel(R"(
    kernel void f(device int* data, uint i [[thread_position_in_grid]], uint l [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup int ours[256];
      ours[l] = data[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      data[i] = ours[n - 1 - l];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  EXPECT_EQ(kernel.pipeline->static_threadgroup_memory, 1024u);
  std::vector<int> data(1000);
  for (int i = 0; i < 1000; ++i) data[i] = i;
  EXPECT_EQ(kernel.run({{1000, 1, 1}, {256, 1, 1}, {buffer(data)}}), "");
  for (int i = 0; i < 1000; ++i) {
    const int first = i / 256 * 256, size = std::min(256, 1000 - first);
    EXPECT_EQ(data[i], first + size - 1 - (i - first)) << i;
  }
}

TEST(Threadgroup, HasDynamicMemoryForEachArgument) {
  Kernel kernel(R"(
    kernel void f(device int* data, threadgroup int* a [[threadgroup(0)]], threadgroup char* b [[threadgroup(3)]],
                  threadgroup float4* c [[threadgroup(1)]], uint l [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup int ours[33];
      ours[l % 33] = 0;
      a[l] = l; b[l] = l + 1; c[l] = float4(l + 2);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      const uint other = (l + 7) % n;
      data[l] = a[other] * 1000000 + b[other] * 1000 + int(c[other].w);
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> data(50);
  EXPECT_EQ(kernel.run({{50, 1, 1},
                        {50, 1, 1},
                        {buffer(data), threadgroup_bytes(200), threadgroup_bytes(50), threadgroup_bytes(800)}}),
            "");
  for (int l = 0; l < 50; ++l) {
    const int other = (l + 7) % 50;
    EXPECT_EQ(data[l], other * 1000000 + (other + 1) * 1000 + other + 2);
  }
}

TEST(Threadgroup, CountersOfWhichTheCompilerMakesSeveralCountOnceAndLeaveRoomForOtherMemory) {
  Kernel kernel(R"(
    kernel void f(device const uchar* bytes, device uint* counts, constant uint& size,
                  threadgroup uint* dynamic [[threadgroup(0)]], uint l [[thread_index_in_threadgroup]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup atomic_uint bins[256];
      threadgroup uint before[6000];
      for (uint i = l; i < 6000; i += n) before[i] = i;
      dynamic[l] = l;
      for (uint i = l; i < 256; i += n) atomic_store_explicit(&bins[i], 1, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = l; i < size; i += n) atomic_fetch_add_explicit(&bins[bytes[i]], 1, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint i = l; i < 256; i += n) counts[i] = atomic_load_explicit(&bins[i], memory_order_relaxed);
      for (uint i = l; i < 6000; i += n) counts[256] |= before[i] != i;
      counts[257] |= dynamic[l] != l;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  EXPECT_EQ(kernel.pipeline->static_threadgroup_memory, 1024u + 24000u);
  std::vector<uint8_t> bytes(10007);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<uint8_t>(i * i % 251);
  std::vector<uint32_t> expected(258, 1), counts(258), size{static_cast<uint32_t>(bytes.size())};
  for (const uint8_t byte : bytes) ++expected[byte];
  expected[256] = expected[257] = 0;
  for (const uint32_t threads : {1u, 32u, 100u, 256u, 1000u}) {
    std::ranges::fill(counts, 0);
    EXPECT_EQ(kernel.run({{threads, 1, 1},
                          {threads, 1, 1},
                          {buffer(bytes), buffer(counts), buffer(size), threadgroup_bytes(threads * 4)}}),
              "");
    EXPECT_EQ(counts, expected) << threads;
  }
}

TEST(Threadgroup, VariablesWithAnInitialiserHaveItInEveryThreadgroup) {
  Kernel kernel(R"(
    struct Start { int a; float b; };
    kernel void f(device int* out, uint g [[threadgroup_position_in_grid]], uint l [[thread_index_in_threadgroup]]) {
      threadgroup atomic_int* unused = nullptr; (void)unused;
      threadgroup int counter = 5;
      threadgroup float table[4] = {1, 2, 3, 4};
      threadgroup_barrier(mem_flags::mem_threadgroup);
      if (l == 0) { out[g] = counter + int(table[3]) * 100; counter = 77; table[3] = 9; }
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(20);
  EXPECT_EQ(kernel.run({{320, 1, 1}, {16, 1, 1}, {buffer(out)}}), "");
  for (int value : out) EXPECT_EQ(value, 405);
}

TEST(Threadgroup, BarriersInLoopsKeepStepsApart) {
  Kernel kernel(R"(
    kernel void f(device uint* out, constant uint& rounds, uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
      threadgroup uint ours[1024];
      uint mine = l;
      for (uint round = 0; round < rounds; ++round) {
        ours[l] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        mine = ours[(l + 1) % n] + 1;
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      out[i] = mine;
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  for (uint32_t n : {1u, 31u, 64u, 100u, 1024u}) {
    std::vector<uint32_t> out(n * 3);
    const uint32_t rounds = 13;
    EXPECT_EQ(kernel.run({{n * 3, 1, 1}, {n, 1, 1}, {buffer(out), bytes(rounds)}}), "");
    for (uint32_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], (i % n + rounds) % n + rounds) << n << " " << i;
  }
}

TEST(Threadgroup, BarriersDoNotWaitForThreadsThatHaveEnded) {
  Kernel kernel(R"(
    kernel void f(device int* out, uint l [[thread_index_in_threadgroup]]) {
      threadgroup int ours[128];
      ours[l] = l;
      if (l >= 100) return;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[l] = ours[99 - l];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<int> out(128, -1);
  EXPECT_EQ(kernel.run({{128, 1, 1}, {128, 1, 1}, {buffer(out)}}), "");
  for (int l = 0; l < 128; ++l) EXPECT_EQ(out[l], l < 100 ? 99 - l : -1);
}

TEST(Threadgroup, TreeReductionGivesTheSum) {
  Kernel kernel(R"(
    kernel void f(device const float* in, device float* out, uint i [[thread_position_in_grid]],
                  uint l [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],
                  uint n [[threads_per_threadgroup]]) {
      threadgroup float ours[512];
      ours[l] = in[i];
      threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint stride = n / 2; stride > 0; stride /= 2) {
        if (l < stride) ours[l] += ours[l + stride];
        threadgroup_barrier(mem_flags::mem_threadgroup);
      }
      if (l == 0) out[g] = ours[0];
    })");
  ASSERT_TRUE(kernel.pipeline) << kernel.error;
  std::vector<float> in(512 * 9), out(9);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i % 100);
  EXPECT_EQ(kernel.run({{512 * 9, 1, 1}, {512, 1, 1}, {buffer(in), buffer(out)}}), "");
  for (int g = 0; g < 9; ++g) {
    float sum = 0;  // of small integers: exact in any order
    for (int l = 0; l < 512; ++l) sum += in[g * 512 + l];
    EXPECT_EQ(out[g], sum);
  }
}

TEST(Threadgroup, MemoryBeyondTheDevicesIsAnErrorOfThePipeline) {
  Kernel kernel(R"(
    kernel void f(device float* out, uint i [[thread_position_in_grid]]) {
      threadgroup float ours[10000];
      ours[i] = i; threadgroup_barrier(mem_flags::mem_threadgroup); out[i] = ours[i + 1];
    })");
  EXPECT_FALSE(kernel.pipeline);
  EXPECT_EQ(kernel.error, "'f' needs 40000 bytes of threadgroup memory; the device has 32768");
}

}  // namespace
}  // namespace metalloid::cpu
