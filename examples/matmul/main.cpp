// Multiplies two matrices with three kernels, checks each against float64, and prints what each took.
// usage: matmul [n]   (256 if not given; the simdgroup kernel takes multiples of 16)
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

struct Way {
  const char* kernel;
  MTL::Size threads_per_threadgroup;
  unsigned elements_per_threadgroup;  // along each side of C
};

static const Way ways[] = {
    {"matmul_naive", MTL::Size(16, 16, 1), 16},
    {"matmul_tiled", MTL::Size(16, 16, 1), 16},
    {"matmul_simdgroup", MTL::Size(32, 1, 1), 16},
};

static int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "matmul: %s: %s\n", what, error ? error->localizedDescription()->utf8String() : "no reason given");
  return 1;
}

static std::vector<double> reference(const float* a, const float* b, unsigned n) {
  std::vector<double> c(size_t{n} * n);
  for (unsigned row = 0; row < n; ++row)
    for (unsigned k = 0; k < n; ++k)
      for (unsigned column = 0; column < n; ++column)
        c[row * n + column] += static_cast<double>(a[row * n + k]) * b[k * n + column];
  return c;
}

int main(int argc, char** argv) {
  unsigned n = argc > 1 ? static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)) : 256;
  if (n < 1 || n > 8192) {
    std::fprintf(stderr, "usage: matmul [n]   with n from 1 to 8192\n");
    return 2;
  }
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return fail("no Metal device", nullptr);
  auto library = NS::TransferPtr(device->newDefaultLibrary());
  if (!library) return fail("default.metallib was not found beside the program", nullptr);
  auto queue = NS::TransferPtr(device->newCommandQueue());

  const NS::UInteger bytes = NS::UInteger{n} * n * sizeof(float);
  auto a = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModeShared));
  auto b = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModeShared));
  auto c = NS::TransferPtr(device->newBuffer(bytes, MTL::ResourceStorageModeShared));
  if (!a || !b || !c) return fail("not enough memory", nullptr);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (MTL::Buffer* buffer : {a.get(), b.get()})
    std::generate_n(static_cast<float*>(buffer->contents()), size_t{n} * n, [&] { return uniform(random); });
  const std::vector<double> expected =
      reference(static_cast<float*>(a->contents()), static_cast<float*>(b->contents()), n);

  std::printf("C = A * B, %u x %u, on %s\n%-18s %10s %10s %12s\n", n, n, device->name()->utf8String(), "kernel", "ms",
              "GFLOP/s", "error");
  bool right = true;
  for (const Way& way : ways) {
    if (way.threads_per_threadgroup.height == 1 && n % way.elements_per_threadgroup) {
      std::printf("%-18s needs a multiple of %u\n", way.kernel, way.elements_per_threadgroup);
      continue;
    }
    NS::Error* error = nullptr;
    auto function = NS::TransferPtr(library->newFunction(NS::String::string(way.kernel, NS::UTF8StringEncoding)));
    auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
    if (!pipeline) return fail(way.kernel, error);

    std::fill_n(static_cast<float*>(c->contents()), size_t{n} * n, NAN);
    double seconds = 0;
    for (int run = 0; run < 3; ++run) {  // the last one counts: the first warms up
      MTL::CommandBuffer* command_buffer = queue->commandBuffer();
      MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
      encoder->setComputePipelineState(pipeline.get());
      encoder->setBuffer(a.get(), 0, 0);
      encoder->setBuffer(b.get(), 0, 1);
      encoder->setBuffer(c.get(), 0, 2);
      encoder->setBytes(&n, sizeof n, 3);
      const unsigned groups = (n + way.elements_per_threadgroup - 1) / way.elements_per_threadgroup;
      encoder->dispatchThreadgroups(MTL::Size(groups, groups, 1), way.threads_per_threadgroup);
      encoder->endEncoding();
      command_buffer->commit();
      command_buffer->waitUntilCompleted();
      if (command_buffer->status() != MTL::CommandBufferStatusCompleted) return fail(way.kernel, command_buffer->error());
      seconds = command_buffer->GPUEndTime() - command_buffer->GPUStartTime();
    }

    double worst = 0;
    for (size_t i = 0; i < expected.size(); ++i) {
      double difference = std::abs(static_cast<float*>(c->contents())[i] - expected[i]);
      worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
    }
    // n products below 1, each rounded at most twice: 2 n ulp of n/4 is far above what rounding gives.
    const bool good = worst <= 1e-6 * n;
    right = right && good;
    std::printf("%-18s %10.2f %10.2f %12.1e%s\n", way.kernel, seconds * 1e3, 2.0 * n * n * n / seconds * 1e-9, worst,
                good ? "" : "  wrong");
  }
  return right ? 0 : 1;
}
