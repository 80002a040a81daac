#include <atomic>
#include <chrono>
#include <thread>

#include "command_program.hpp"

namespace {

using namespace std::chrono_literals;

using CommandQueue = CommandProgram;

TEST_F(CommandQueue, KnowsItsDeviceAndLabel) {
  EXPECT_EQ(queue->device(), device.get());
  EXPECT_EQ(queue->label(), nullptr);
  queue->setLabel(string("training"));
  EXPECT_EQ(text(queue->label()), "training");
}

TEST_F(CommandQueue, CommandBuffersRunInTheOrderOfTheirCommits) {
  const auto data = buffer({0, 0, 0});
  MTL::CommandBuffer* last = nullptr;
  for (uint32_t digit = 1; digit <= 9; ++digit) {
    last = queue->commandBuffer();
    encode_append(last, data, digit);
    last->commit();
  }
  last->waitUntilCompleted();
  EXPECT_EQ(values(data), (std::vector<uint32_t>{123456789, 123456789, 123456789}));
}

TEST_F(CommandQueue, CommandBuffersRunInTheOrderInWhichTheyWereEnqueued) {
  const auto data = buffer({0});
  MTL::CommandBuffer* first = queue->commandBuffer();
  MTL::CommandBuffer* second = queue->commandBuffer();
  MTL::CommandBuffer* third = queue->commandBuffer();
  first->enqueue();
  second->enqueue();
  EXPECT_EQ(first->status(), MTL::CommandBufferStatusEnqueued);
  encode_append(first, data, 1);
  encode_append(second, data, 2);
  encode_append(third, data, 3);
  third->commit();
  second->commit();
  std::this_thread::sleep_for(20ms);
  EXPECT_EQ(values(data)[0], 0u) << "the second and third must wait for the first";
  std::thread([&] { first->commit(); }).join();
  third->waitUntilCompleted();
  EXPECT_EQ(values(data)[0], 123u);
}

TEST_F(CommandQueue, AnEnqueuedCommandBufferThatIsDroppedHoldsUpNobody) {
  const auto data = buffer({0});
  auto dropped = NS::RetainPtr(queue->commandBuffer());
  {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    dropped = NS::RetainPtr(queue->commandBuffer());
  }
  dropped->enqueue();
  MTL::CommandBuffer* commands = queue->commandBuffer();
  encode_append(commands, data, 7);
  commands->commit();
  dropped.reset();
  commands->waitUntilCompleted();
  EXPECT_EQ(values(data)[0], 7u);
}

TEST_F(CommandQueue, GivesOutNoMoreCommandBuffersThanItWasMadeFor) {
  const auto small = NS::TransferPtr(device->newCommandQueue(2));
  MTL::CommandBuffer* first = small->commandBuffer();
  MTL::CommandBuffer* second = small->commandBuffer();
  std::atomic<bool> got_third = false;
  std::thread other([&] {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    MTL::CommandBuffer* third = small->commandBuffer();
    got_third = true;
    third->commit();
    third->waitUntilCompleted();
  });
  std::this_thread::sleep_for(50ms);
  EXPECT_FALSE(got_third);
  first->commit();
  other.join();
  EXPECT_TRUE(got_third);
  second->commit();
  second->waitUntilCompleted();
}

TEST_F(CommandQueue, ACompletedHandlerGetsACommandBufferEvenWhenAllAreTaken) {
  const auto small = NS::TransferPtr(device->newCommandQueue(1));
  const auto data = buffer({0});
  NS::SharedPtr<MTL::CommandBuffer> next;
  MTL::CommandBuffer* first = small->commandBuffer();
  encode_append(first, data, 1);
  first->addCompletedHandler([&](MTL::CommandBuffer*) {
    next = NS::RetainPtr(small->commandBuffer());
    encode_append(next.get(), data, 2);
    next->commit();
  });
  first->commit();
  first->waitUntilCompleted();
  next->waitUntilCompleted();
  EXPECT_EQ(values(data)[0], 12u);
}

TEST_F(CommandQueue, ADescriptorSetsTheNumberOfCommandBuffers) {
  const auto descriptor = NS::TransferPtr(MTL::CommandQueueDescriptor::alloc()->init());
  EXPECT_EQ(descriptor->maxCommandBufferCount(), 64u);
  descriptor->setMaxCommandBufferCount(3);
  const auto copy = NS::TransferPtr(descriptor->copy());
  EXPECT_EQ(copy->maxCommandBufferCount(), 3u);
  const auto made = NS::TransferPtr(device->newCommandQueue(copy.get()));
  ASSERT_TRUE(made);
  for (int i = 0; i < 3; ++i) EXPECT_NE(made->commandBuffer(), nullptr);
}

TEST_F(CommandQueue, QueuesDoNotWaitForEachOther) {
  const auto other = NS::TransferPtr(device->newCommandQueue());
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto data = buffer({0});
  MTL::CommandBuffer* waiting = queue->commandBuffer();
  waiting->encodeWait(event.get(), 1);
  waiting->commit();
  MTL::CommandBuffer* running = other->commandBuffer();
  encode_append(running, data, 5);
  finish(running);
  EXPECT_EQ(values(data)[0], 5u);
  EXPECT_LT(waiting->status(), MTL::CommandBufferStatusCompleted);
  event->setSignaledValue(1);
  waiting->waitUntilCompleted();
}

TEST_F(CommandQueue, LivesUntilItsLastCommandBufferIsDone) {
  const auto data = buffer({0});
  {
    const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    const auto brief = NS::TransferPtr(device->newCommandQueue());
    MTL::CommandBuffer* commands = brief->commandBuffer();
    encode_append(commands, data, 4);
    commands->commit();
  }
  for (int i = 0; i < 1000 && values(data)[0] == 0; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(values(data)[0], 4u);
}

TEST_F(CommandQueue, MessagesToNilAnswerZero) {
  MTL::CommandQueue* volatile unknown = nullptr;  // compilers warn of calls on what they know to be null
  MTL::CommandQueue* nil = unknown;
  EXPECT_EQ(nil->commandBuffer(), nullptr);
  EXPECT_EQ(nil->device(), nullptr);
  MTL::CommandBuffer* no_commands = nil->commandBuffer();
  EXPECT_EQ(no_commands->computeCommandEncoder(), nullptr);
  no_commands->commit();
  no_commands->waitUntilCompleted();
  EXPECT_EQ(no_commands->status(), MTL::CommandBufferStatusNotEnqueued);
}

}  // namespace
