// Adds up a million numbers with three kernels and compares each sum with float64.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>

constexpr unsigned count = 1'000'003;
constexpr unsigned threads = 256;
constexpr unsigned groups = (count + threads - 1) / threads;

static int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "reduction: %s: %s\n", what, error ? error->localizedDescription()->utf8String() : "no reason given");
  return 1;
}

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return fail("no Metal device", nullptr);
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  if (!library) return fail("default.metallib was not found beside the program", nullptr);
  auto queue = NS::TransferPtr(device->newCommandQueue());

  auto values = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  auto sums = NS::TransferPtr(device->newBuffer(groups * sizeof(float), MTL::ResourceStorageModeShared));
  if (!values || !sums) return fail("not enough memory", nullptr);
  auto* numbers = static_cast<float*>(values->contents());
  auto* parts = static_cast<float*>(sums->contents());
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (unsigned i = 0; i < count; ++i) numbers[i] = uniform(random);
  const double expected = std::accumulate(numbers, numbers + count, 0.0);

  std::printf("the sum of %u numbers is %.3f; on %s:\n", count, expected, device->name()->utf8String());
  bool right = true;
  for (const char* kernel : {"sum_tree", "sum_simd", "sum_atomic"}) {
    NS::Error* error = nullptr;
    auto function = NS::TransferPtr(library->newFunction(NS::String::string(kernel, NS::UTF8StringEncoding)));
    auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    if (!pipeline) return fail(kernel, error);

    std::memset(parts, 0, groups * sizeof(float));
    MTL::CommandBuffer* command_buffer = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
    encoder->setComputePipelineState(pipeline.get());
    encoder->setBuffer(values.get(), 0, 0);
    encoder->setBuffer(sums.get(), 0, 1);
    encoder->setBytes(&count, sizeof count, 2);
    if (!std::strcmp(kernel, "sum_tree")) encoder->setThreadgroupMemoryLength(threads * sizeof(float), 0);
    encoder->dispatchThreadgroups(MTL::Size(groups, 1, 1), MTL::Size(threads, 1, 1));
    encoder->endEncoding();
    command_buffer->commit();
    command_buffer->waitUntilCompleted();
    if (command_buffer->status() != MTL::CommandBufferStatusCompleted) return fail(kernel, command_buffer->error());

    const double sum = std::accumulate(parts, parts + groups, 0.0);  // sum_atomic leaves all of it in the first
    const double error_relative = std::abs(sum - expected) / expected;
    const bool good = error_relative < 1e-4;  // thousands of float additions in a row, in the worst of the three
    right = right && good;
    std::printf("  %-12s %.3f  %8.2f ms  relative error %.0e%s\n", kernel, sum,
                (command_buffer->GPUEndTime() - command_buffer->GPUStartTime()) * 1e3, error_relative,
                good ? "" : "  wrong");
  }
  return right ? 0 : 1;
}
