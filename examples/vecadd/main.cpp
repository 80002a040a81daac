// The Metal hello-world: two vectors added on the device. Everything a Metal program does is here once, in order.
#define NS_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Foundation/Foundation.hpp>
#include <Metal/Metal.hpp>
#include <algorithm>
#include <cstdio>

constexpr NS::UInteger count = 1'000'003;  // no multiple of anything

static int fail(const char* what, NS::Error* error) {
  std::fprintf(stderr, "vecadd: %s: %s\n", what, error ? error->localizedDescription()->utf8String() : "no reason given");
  return 1;
}

int main() {
  auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::Error* error = nullptr;

  auto device = NS::TransferPtr(MTL::CreateSystemDefaultDevice());
  if (!device) return fail("no Metal device", nullptr);

  auto library = NS::TransferPtr(device->newDefaultLibrary());  // default.metallib, beside this program
  if (!library) return fail("default.metallib was not found beside the program", nullptr);
  auto function = NS::TransferPtr(library->newFunction(NS::String::string("add", NS::UTF8StringEncoding)));
  auto pipeline = NS::TransferPtr(device->newComputePipelineState(function.get(), &error));
  if (!pipeline) return fail("the kernel cannot be used", error);

  auto a = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  auto b = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  auto sum = NS::TransferPtr(device->newBuffer(count * sizeof(float), MTL::ResourceStorageModeShared));
  if (!a || !b || !sum) return fail("not enough memory", nullptr);
  auto* values_a = static_cast<float*>(a->contents());
  auto* values_b = static_cast<float*>(b->contents());
  for (NS::UInteger i = 0; i < count; ++i) {
    values_a[i] = static_cast<float>(i);
    values_b[i] = 0.5f * static_cast<float>(i);
  }

  auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* command_buffer = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = command_buffer->computeCommandEncoder();
  encoder->setComputePipelineState(pipeline.get());
  encoder->setBuffer(a.get(), 0, 0);
  encoder->setBuffer(b.get(), 0, 1);
  encoder->setBuffer(sum.get(), 0, 2);
  encoder->dispatchThreads(MTL::Size(count, 1, 1),
                           MTL::Size(std::min<NS::UInteger>(256, pipeline->maxTotalThreadsPerThreadgroup()), 1, 1));
  encoder->endEncoding();
  command_buffer->commit();
  command_buffer->waitUntilCompleted();
  if (command_buffer->status() != MTL::CommandBufferStatusCompleted) return fail("the kernel failed", command_buffer->error());

  auto* result = static_cast<const float*>(sum->contents());
  NS::UInteger wrong = 0;
  for (NS::UInteger i = 0; i < count; ++i) wrong += result[i] != values_a[i] + values_b[i];
  std::printf("%s added two vectors of %lu floats in %.2f ms: %g + %g = %g, ... ; %lu wrong\n",
              device->name()->utf8String(), static_cast<unsigned long>(count),
              (command_buffer->GPUEndTime() - command_buffer->GPUStartTime()) * 1e3, values_a[count - 1],
              values_b[count - 1], result[count - 1], static_cast<unsigned long>(wrong));
  return wrong ? 1 : 0;
}
