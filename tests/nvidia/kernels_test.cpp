// What the lowering of kernels promises beyond group functions, on an emulated GPU: threads' own arrays, threadgroup
// memory and threadgroups that are too large for the hardware as they are, messages.
#include <gtest/gtest.h>

#include <numeric>

#include "emulated_gpu.hpp"
#include "fake_gpu.hpp"
#include "nvidia/driver.hpp"
#include "nvidia/kernel_logs.hpp"

namespace metalloid::nvidia {
namespace {

constexpr const char* header = "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n";

struct Emulated {
  explicit Emulated(const std::string& source) {
    auto cases = differ::parse_cases(header + source);
    if (!cases) throw std::runtime_error(cases.error());
    kernel = cases->front();
    auto compiled = differ::compile_source(kernel.source);
    if (!compiled) throw std::runtime_error(compiled.error());
    library = *compiled;
    gpu = std::make_unique<EmulatedGpu>(library, kernel.kernel, Architecture{90});
  }

  // The numbers that a run leaves in an argument.
  std::vector<uint32_t> numbers(size_t argument, uint64_t log = 0) const {
    const differ::Remains remains = gpu->run(kernel, kernel.launches.front(), log);
    EXPECT_EQ(remains.fault, "");
    const std::vector<uint8_t>& bytes = remains.memory.at(argument);
    std::vector<uint32_t> numbers(bytes.size() / sizeof(uint32_t));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    return numbers;
  }

  differ::KernelCase kernel;
  std::shared_ptr<const Library> library;
  std::unique_ptr<EmulatedGpu> gpu;
};

TEST(EmulatedKernels, AccessesOutsideOfAThreadsArrayAreHarmless) {
  const Emulated kernel(R"(
//@ buffer uint ramp N
//@ buffer uint zeros N
//@ grid 64 group 32
kernel void f(device const uint* in, device uint* out, uint i [[thread_position_in_grid]]) {
  uint a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
  const int k = int(in[i] & 7) - 2;
  a[k] = 100;
  b[k + 1] += 1000;
  out[i] = a[0] + a[1] + a[2] + a[3] + b[i & 3] + a[k + 4];
})");
  const std::vector<uint32_t> out = kernel.numbers(1);
  for (uint32_t i = 0; i < 64; ++i) {
    uint32_t a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    const int k = static_cast<int>(i & 7) - 2;
    if (k >= 0 && k < 4) a[k] = 100;
    if (k + 1 >= 0 && k + 1 < 4) b[k + 1] += 1000;
    EXPECT_EQ(out[i], a[0] + a[1] + a[2] + a[3] + b[i & 3] + (k + 4 < 4 ? a[k + 4] : 0)) << i;
  }
}

TEST(EmulatedKernels, MoreThreadgroupMemoryThanAModuleMayHaveIsTheLaunchs) {
  const Emulated kernel(R"(
//@ buffer uint zeros N
//@ threadgroup 512
//@ grid 128 group 128
kernel void f(device uint* out, threadgroup uint* given, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint a[13000];
  threadgroup ushort b[3];
  given[i] = i;
  for (uint k = i; k < 13000; k += 128) a[k] = k;
  if (i < 3) b[i] = ushort(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = a[12999 - i] + b[i % 3] * 100000 + given[127 - i] * 1000000;
})");
  EXPECT_TRUE(kernel.gpu->kernel().variables_are_dynamic);
  EXPECT_GE(kernel.gpu->kernel().static_threadgroup_memory, 13000 * 4 + 6u);
  const std::vector<uint32_t> out = kernel.numbers(0);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], 12999 - i + i % 3 * 100000 + (127 - i) * 1000000) << i;
}

TEST(EmulatedKernels, LittleThreadgroupMemoryIsTheModules) {
  const Emulated kernel(R"(
//@ buffer uint zeros N
//@ grid 32 group 32
kernel void f(device uint* out, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint a[32];
  a[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = a[31 - i];
})");
  EXPECT_FALSE(kernel.gpu->kernel().variables_are_dynamic);
  EXPECT_EQ(kernel.gpu->kernel().static_threadgroup_memory, 128u);
}

TEST(EmulatedKernels, ThreadgroupsDeeperThanTheHardwaresAreRows) {
  const Emulated kernel(R"(
//@ buffer uint zeros N
//@ grid 5x2x150 group 3x2x100
kernel void f(device uint* out, uint3 at [[thread_position_in_grid]], uint3 t [[thread_position_in_threadgroup]],
              uint i [[thread_index_in_threadgroup]]) {
  out[at.x + 5 * (at.y + 2 * at.z)] = t.x + 10 * t.y + 100 * t.z + 100000 * i;
})");
  const std::vector<uint32_t> out = kernel.numbers(0);
  for (uint32_t x = 0; x < 5; ++x)
    for (uint32_t y = 0; y < 2; ++y)
      for (uint32_t z = 0; z < 150; ++z) {
        const uint32_t width = x < 3 ? 3 : 2, index = x % 3 + width * (y + 2 * (z % 100));
        EXPECT_EQ(out[x + 5 * (y + 2 * z)], x % 3 + 10 * y + 100 * (z % 100) + 100000 * index) << x << y << z;
      }
}

class EmulatedLogs : public FakeGpu {};

TEST_F(EmulatedLogs, HaveTheStringsOfTheKernel) {
  const Emulated kernel(R"(
//@ buffer uint zeros N
//@ grid 2 group 2
kernel void f(device uint* out, uint i [[thread_position_in_grid]]) {
  const char* name = i == 0 ? "first" : "a second one that is longer than a word";
  os_log_default.log("%u: <%s> and <%.3s> in %*d", i, name, "constant", 5, 7);
})");
  const auto gpu = Gpu::open(*Driver::shared(), 0);
  ASSERT_TRUE(gpu) << gpu.error();
  PinnedPages pages(*gpu, log_buffer_bytes);
  KernelLogs logs;
  const auto buffer = logs.add(pages, kernel.gpu->kernel().log_sites, "f", "");
  ASSERT_TRUE(buffer) << buffer.error();
  kernel.numbers(0, *buffer);
  std::vector<std::string> messages;
  logs.deliver([&](const device::Log& log) { messages.push_back(log.message); });
  std::sort(messages.begin(), messages.end());
  EXPECT_EQ(messages, (std::vector<std::string>{"0: <first> and <con> in     7",
                                                "1: <a second one that is longer than a word> and <con> in     7"}));
  logs.give_back(pages);
}

}  // namespace
}  // namespace metalloid::nvidia
