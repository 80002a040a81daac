// Many host threads, many command buffers, many dispatches. METALLOID_STRESS=n is the number of command buffers of each
// of the eight threads (10,000 for a full run).
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "command_program.hpp"

namespace {

using Stress = CommandProgram;

size_t command_buffers_per_thread() {
  const char* asked = std::getenv("METALLOID_STRESS");
  return asked ? std::strtoul(asked, nullptr, 10) : 200;
}

// Each thread has its own queue and buffer; every command buffer adds one to it, waits for the one before it through a
// shared event of the thread, and adds one to a buffer that all threads share, in turns that another event deals out.
TEST_F(Stress, EightThreadsCommitWithHandlersEventsAndSharedBuffers) {
  constexpr size_t threads = 8;
  const size_t rounds = command_buffers_per_thread();
  MTL::ComputePipelineState* add_one = pipeline("add_one");
  const auto shared = buffer({0});
  const auto turns = NS::TransferPtr(device->newSharedEvent());
  std::atomic<size_t> handlers = 0, failed = 0;
  std::vector<NS::SharedPtr<MTL::Buffer>> own;
  for (size_t i = 0; i < threads; ++i) own.push_back(buffer({0, 0, 0}));

  const auto work = [&](size_t thread) {
    const auto my_queue = NS::TransferPtr(device->newCommandQueue());
    const auto event = NS::TransferPtr(device->newSharedEvent());
    for (size_t round = 0; round < rounds; ++round) {
      const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
      MTL::CommandBuffer* commands = my_queue->commandBuffer();
      if (round > 0) commands->encodeWait(event.get(), round);
      MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(add_one);
      encoder->setBuffer(own[thread].get(), 0, 0);
      encoder->dispatchThreads(MTL::Size(3, 1, 1), MTL::Size(3, 1, 1));
      encoder->endEncoding();
      const uint64_t turn = round * threads + thread;
      commands->encodeWait(turns.get(), turn);
      encoder = commands->computeCommandEncoder();
      encoder->setComputePipelineState(add_one);
      encoder->setBuffer(shared.get(), 0, 0);
      encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
      encoder->endEncoding();
      commands->encodeSignalEvent(turns.get(), turn + 1);
      commands->encodeSignalEvent(event.get(), round + 1);
      commands->addCompletedHandler([&](MTL::CommandBuffer* done) {
        ++handlers;
        if (done->status() != MTL::CommandBufferStatusCompleted) ++failed;
      });
      commands->commit();
      if (round + 1 == rounds) commands->waitUntilCompleted();
    }
    EXPECT_TRUE(event->waitUntilSignaledValue(rounds, 0));
  };

  std::vector<std::thread> hosts;
  for (size_t i = 0; i < threads; ++i) hosts.emplace_back(work, i);
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(handlers, threads * rounds);
  EXPECT_EQ(failed, 0u);
  for (const auto& counter : own) EXPECT_EQ(values(counter), std::vector<uint32_t>(3, rounds));
  EXPECT_EQ(values(shared)[0], threads * rounds);
}

TEST_F(Stress, EightThreadsShareOneQueue) {
  constexpr size_t threads = 8;
  const size_t rounds = command_buffers_per_thread();
  MTL::ComputePipelineState* add_one = pipeline("add_one");
  const auto counter = buffer({0});
  std::vector<std::thread> hosts;
  for (size_t i = 0; i < threads; ++i)
    hosts.emplace_back([&] {
      for (size_t round = 0; round < rounds; ++round) {
        const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
        MTL::CommandBuffer* commands = queue->commandBuffer();
        MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
        encoder->setComputePipelineState(add_one);
        encoder->setBuffer(counter.get(), 0, 0);
        encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
        encoder->endEncoding();
        commands->commit();
        if (round % 16 == 0) commands->waitUntilCompleted();
      }
    });
  for (std::thread& host : hosts) host.join();
  MTL::CommandBuffer* last = queue->commandBuffer();
  finish(last);
  EXPECT_EQ(values(counter)[0], threads * rounds);
}

TEST_F(Stress, AHundredThousandDispatchesDoNotGrowMemory) {
  constexpr int dispatches = 100'000;
  const auto data = buffer({0});
  const auto run = [&] {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = encode(commands, "add", data);
    for (uint32_t i = 0; i < dispatches; ++i) {
      const uint32_t one = 1;
      encoder->setBytes(&one, sizeof one, 1);
      encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    }
    encoder->endEncoding();
    finish(commands);
  };
  run();
  run();
  // A driver takes some memory now and then; what is lost with dispatches is lost each time.
  unsigned runs = 2;
  size_t growth = SIZE_MAX;
  for (int attempt = 0; attempt < 3 && growth >= 1 << 20; ++attempt) {
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (int i = 0; i < 3; ++i, ++runs) run();
    const size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    growth = after > before ? after - before : 0;
  }
  EXPECT_LT(growth, size_t{1} << 20);
  EXPECT_EQ(values(data)[0], runs * dispatches);
}

TEST_F(Stress, QueuesComeAndGo) {
  constexpr size_t queues = 100;
  const auto data = buffer(std::vector<uint32_t>(queues));
  std::atomic<size_t> done = 0;
  for (size_t i = 0; i < queues; ++i) {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const auto brief = NS::TransferPtr(device->newCommandQueue());
    MTL::CommandBuffer* commands = brief->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one");
    encoder->setBuffer(data.get(), i * sizeof(uint32_t), 0);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->addCompletedHandler([&](MTL::CommandBuffer*) { ++done; });
    commands->commit();
    if (i % 2) commands->waitUntilCompleted();
  }
  while (done < queues) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(values(data), std::vector<uint32_t>(queues, 1));
}

}  // namespace
