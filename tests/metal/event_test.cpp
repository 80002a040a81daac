#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "command_program.hpp"

namespace {

using namespace std::chrono_literals;

using Event = CommandProgram;

TEST_F(Event, OrdersCommandBuffersOfTwoQueues) {
  const auto other = NS::TransferPtr(device->newCommandQueue());
  const auto event = NS::TransferPtr(device->newEvent());
  event->setLabel(string("step"));
  EXPECT_EQ(text(event->label()), "step");
  EXPECT_EQ(event->device(), device.get());
  const auto data = buffer({0});
  MTL::CommandBuffer* second = other->commandBuffer();
  second->encodeWait(event.get(), 1);
  encode_append(second, data, 2);
  second->commit();
  MTL::CommandBuffer* first = queue->commandBuffer();
  encode_append(first, data, 1);
  first->encodeSignalEvent(event.get(), 1);
  first->commit();
  second->waitUntilCompleted();
  EXPECT_EQ(values(data)[0], 12u);
}

TEST_F(Event, QueuesPassWorkBackAndForth) {
  const auto other = NS::TransferPtr(device->newCommandQueue());
  const auto event = NS::TransferPtr(device->newEvent());
  const auto data = buffer({0});
  constexpr uint64_t rounds = 20;
  for (uint64_t round = 0; round < rounds; ++round) {
    const auto& turn = round % 2 ? other : queue;
    MTL::CommandBuffer* commands = turn->commandBuffer();
    if (round > 0) commands->encodeWait(event.get(), round);
    encode_add_one(commands, data);
    commands->encodeSignalEvent(event.get(), round + 1);
    commands->commit();
    if (round + 1 == rounds) commands->waitUntilCompleted();
  }
  EXPECT_EQ(values(data)[0], rounds);
}

TEST_F(Event, ASharedEventIsReadAndSetByTheHost) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  EXPECT_EQ(event->signaledValue(), 0u);
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->encodeSignalEvent(event.get(), 41);
  finish(commands);
  EXPECT_EQ(event->signaledValue(), 41u);
  event->setSignaledValue(7);
  EXPECT_EQ(event->signaledValue(), 7u);
}

TEST_F(Event, ASmallerValueMakesThoseWaitWhoComeAfterwards) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  event->setSignaledValue(5);
  EXPECT_TRUE(event->waitUntilSignaledValue(5, 0));
  event->setSignaledValue(0);
  EXPECT_FALSE(event->waitUntilSignaledValue(5, 10));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->encodeWait(event.get(), 1);
  commands->commit();
  std::this_thread::sleep_for(10ms);
  EXPECT_LT(commands->status(), MTL::CommandBufferStatusCompleted);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
}

TEST_F(Event, WaitingGivesUpInTime) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(event->waitUntilSignaledValue(1, 30));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 30ms);
  std::thread signaller([&] {
    std::this_thread::sleep_for(20ms);
    event->setSignaledValue(3);
  });
  EXPECT_TRUE(event->waitUntilSignaledValue(2, 60000));
  signaller.join();
  EXPECT_TRUE(event->waitUntilSignaledValue(3, UINT64_MAX));
}

TEST_F(Event, AListenerIsToldOnceWhenTheValueIsReached) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto listener = NS::TransferPtr(MTL::SharedEventListener::alloc()->init());
  EXPECT_NE(listener->dispatchQueue(), nullptr);
  std::promise<uint64_t> told;
  std::atomic<int> calls = 0;
  event->notifyListener(listener.get(), 2, [&](MTL::SharedEvent* given, uint64_t value) {
    EXPECT_EQ(given, event.get());
    ++calls;
    told.set_value(value);
  });
  event->setSignaledValue(1);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(calls, 0);
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->encodeSignalEvent(event.get(), 4);
  finish(commands);
  auto value = told.get_future();
  ASSERT_EQ(value.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(value.get(), 4u);
  event->setSignaledValue(9);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(calls, 1);
}

TEST_F(Event, AListenerThatComesLateIsToldAtOnce) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  event->setSignaledValue(6);
  std::promise<uint64_t> told;
  event->notifyListener(MTL::SharedEventListener::sharedListener(), 5,
                        [&](MTL::SharedEvent*, uint64_t value) { told.set_value(value); });
  auto value = told.get_future();
  ASSERT_EQ(value.wait_for(60s), std::future_status::ready);
  EXPECT_EQ(value.get(), 6u);
}

TEST_F(Event, AListenerMayAnswerTheDevice) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto listener = NS::TransferPtr(MTL::SharedEventListener::alloc()->init());
  const auto data = buffer({5});
  event->notifyListener(listener.get(), 1, [&](MTL::SharedEvent* given, uint64_t) {
    static_cast<uint32_t*>(data->contents())[0] *= 2;
    given->setSignaledValue(2);
  });
  MTL::CommandBuffer* commands = queue->commandBuffer();
  encode_add_one(commands, data);
  commands->encodeSignalEvent(event.get(), 1);
  commands->encodeWait(event.get(), 2);
  encode_add_one(commands, data);
  finish(commands);
  EXPECT_EQ(values(data)[0], 13u);
}

TEST_F(Event, AHandleGivesTheSameEvent) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  event->setLabel(string("across"));
  const auto handle = NS::TransferPtr(event->newSharedEventHandle());
  EXPECT_EQ(text(handle->label()), "across");
  const auto twin = NS::TransferPtr(device->newSharedEvent(handle.get()));
  ASSERT_TRUE(twin);
  event->setSignaledValue(12);
  EXPECT_EQ(twin->signaledValue(), 12u);
}

}  // namespace
