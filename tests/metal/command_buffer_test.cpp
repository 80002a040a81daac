#include <atomic>
#include <chrono>
#include <thread>

#include "command_program.hpp"

namespace {

using namespace std::chrono_literals;

using CommandBuffer = CommandProgram;

TEST_F(CommandBuffer, StatusGoesFromNotEnqueuedToCompleted) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusNotEnqueued);
  commands->enqueue();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusEnqueued);
  commands->encodeWait(event.get(), 1);
  commands->commit();
  EXPECT_GE(commands->status(), MTL::CommandBufferStatusCommitted);
  commands->waitUntilScheduled();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusScheduled);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(commands->error(), nullptr);
}

TEST_F(CommandBuffer, BelongsToItsQueue) {
  MTL::CommandBuffer* commands = queue->commandBuffer();
  EXPECT_EQ(commands->commandQueue(), queue.get());
  EXPECT_EQ(commands->device(), device.get());
  commands->setLabel(string("step 1"));
  EXPECT_EQ(text(commands->label()), "step 1");
}

TEST_F(CommandBuffer, HandlersRunInOrderAndBeforeWaitingReturns) {
  std::vector<int> calls;
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->addScheduledHandler([&](MTL::CommandBuffer* given) {
    EXPECT_EQ(given, commands);
    calls.push_back(1);
  });
  commands->addCompletedHandler([&](MTL::CommandBuffer* given) {
    EXPECT_EQ(given->status(), MTL::CommandBufferStatusCompleted);
    std::this_thread::sleep_for(20ms);
    calls.push_back(2);
  });
  commands->addCompletedHandler([&](MTL::CommandBuffer*) { calls.push_back(3); });
  finish(commands);
  EXPECT_EQ(calls, (std::vector<int>{1, 2, 3}));
}

TEST_F(CommandBuffer, AHandlerMayWaitForItsOwnCommandBuffer) {
  bool returned = false;
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->addCompletedHandler([&](MTL::CommandBuffer* given) {
    given->waitUntilCompleted();
    returned = true;
  });
  finish(commands);
  EXPECT_TRUE(returned);
}

TEST_F(CommandBuffer, AHandlerThatWaitsForItsOwnQueueDoesNotHang) {
  const auto next = NS::RetainPtr(queue->commandBuffer());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->addCompletedHandler([&](MTL::CommandBuffer*) {
    next->commit();
    next->waitUntilCompleted();
  });
  finish(commands);
  next->waitUntilCompleted();
  EXPECT_EQ(text(next->error()),
            "MTL::CommandBuffer::waitUntilCompleted: a handler cannot wait for another command buffer of its own "
            "queue");
}

TEST_F(CommandBuffer, HandlersMayCommitMoreWork) {
  const auto data = buffer({0});
  std::atomic<int> left = 5;
  std::function<void(MTL::CommandBuffer*)> again = [&](MTL::CommandBuffer*) {
    if (--left == 0) return;
    MTL::CommandBuffer* commands = queue->commandBuffer();
    encode_append(commands, data, 1);
    commands->addCompletedHandler(again);
    commands->commit();
  };
  MTL::CommandBuffer* commands = queue->commandBuffer();
  encode_append(commands, data, 1);
  commands->addCompletedHandler(again);
  commands->commit();
  while (left != 0) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(values(data)[0], 11111u);
}

TEST_F(CommandBuffer, TimesAreInOrder) {
  const auto data = buffer(std::vector<uint32_t>(10000));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  encode_add_one(commands, data);
  EXPECT_EQ(commands->GPUStartTime(), 0);
  finish(commands);
  EXPECT_GT(commands->kernelStartTime(), 0);
  EXPECT_GE(commands->kernelEndTime(), commands->kernelStartTime());
  EXPECT_GE(commands->GPUStartTime(), commands->kernelStartTime());
  EXPECT_GT(commands->GPUEndTime(), commands->GPUStartTime());
  EXPECT_LT(commands->GPUEndTime() - commands->GPUStartTime(), 60);
}

TEST_F(CommandBuffer, RetainsWhatItUsesUntilItIsDone) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  EXPECT_TRUE(commands->retainedReferences());
  commands->encodeWait(event.get(), 1);
  encode_append(commands, data, 1);
  commands->commit();
  EXPECT_EQ(data->retainCount(), 2u);
  event->setSignaledValue(1);
  commands->waitUntilCompleted();
  // Whoever waits goes on before references are put away.
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (data->retainCount() > 1 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
  EXPECT_EQ(data->retainCount(), 1u);
}

TEST_F(CommandBuffer, WithUnretainedReferencesRetainsNothing) {
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBufferWithUnretainedReferences();
  EXPECT_FALSE(commands->retainedReferences());
  encode_append(commands, data, 1);
  EXPECT_EQ(data->retainCount(), 1u);
  finish(commands);
  EXPECT_EQ(values(data)[0], 1u);
}

TEST_F(CommandBuffer, AFaultNamesTheKernelAndSparesTheOthers) {
  const auto data = buffer({0});
  MTL::CommandBuffer* failing = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(failing, "out_of_bounds", data);
  encoder->setLabel(string("attention"));
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  encode_append(failing, data, 1);
  MTL::CommandBuffer* next = queue->commandBuffer();
  encode_append(next, data, 2);
  bool told = false;
  failing->addCompletedHandler([&](MTL::CommandBuffer* given) {
    told = given->status() == MTL::CommandBufferStatusError && given->error() != nullptr;
  });
  failing->commit();
  next->commit();
  failing->waitUntilCompleted();
  next->waitUntilCompleted();
  ASSERT_EQ(failing->status(), MTL::CommandBufferStatusError);
  EXPECT_TRUE(told);
  EXPECT_EQ(text(failing->error()->domain()), "MTLCommandBufferErrorDomain");
  EXPECT_EQ(failing->error()->code(), static_cast<NS::Integer>(MTL::CommandBufferErrorPageFault));
  EXPECT_NE(text(failing->error()).find("out_of_bounds"), std::string::npos) << text(failing->error());
  EXPECT_NE(text(failing->error()).find("attention"), std::string::npos) << text(failing->error());
  if (device->hasUnifiedMemory()) {
    EXPECT_EQ(next->status(), MTL::CommandBufferStatusCompleted);
    EXPECT_EQ(values(data)[0], 2u) << "what follows the fault in its own command buffer is left out";
  } else if (next->status() != MTL::CommandBufferStatusCompleted) {
    // NVIDIA's driver may take no more work from the process, of which users are told (docs/nvidia.md).
    ASSERT_EQ(next->status(), MTL::CommandBufferStatusError);
    EXPECT_EQ(next->error()->code(), static_cast<NS::Integer>(MTL::CommandBufferErrorDeviceRemoved));
    EXPECT_NE(text(next->error()).find("start the program again"), std::string::npos) << text(next->error());
  }
}

TEST_F(CommandBuffer, AnErrorSaysHowFarEachEncoderCame) {
  const auto data = buffer({0});
  const auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setErrorOptions(MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  MTL::CommandBuffer* commands = queue->commandBuffer(descriptor.get());
  EXPECT_EQ(commands->errorOptions(), MTL::CommandBufferErrorOptionEncoderExecutionStatus);
  const char* kernels[] = {"add_one", "out_of_bounds", "add_one"};
  for (const char* kernel : kernels) {
    MTL::ComputeCommandEncoder* encoder = encode(commands, kernel, data);
    encoder->setLabel(string(std::string("encoder of ") + kernel));
    encoder->insertDebugSignpost(string("here"));
    dispatch(encoder, data);
    encoder->endEncoding();
  }
  failure(commands);
  const auto* infos =
      static_cast<NS::Array*>(commands->error()->userInfo()->object(MTL::CommandBufferEncoderInfoErrorKey));
  ASSERT_NE(infos, nullptr);
  ASSERT_EQ(infos->count(), 3u);
  const MTL::CommandEncoderErrorState states[] = {MTL::CommandEncoderErrorStateCompleted,
                                                  MTL::CommandEncoderErrorStateFaulted,
                                                  MTL::CommandEncoderErrorStatePending};
  for (NS::UInteger i = 0; i < 3; ++i) {
    const auto* info = infos->object<MTL::CommandBufferEncoderInfo>(i);
    EXPECT_EQ(info->errorState(), states[i]) << i;
    EXPECT_EQ(text(info->label()), std::string("encoder of ") + kernels[i]);
    ASSERT_EQ(info->debugSignposts()->count(), 1u);
    EXPECT_EQ(text(info->debugSignposts()->object<NS::String>(0)), "here");
  }
}

TEST_F(CommandBuffer, AFailedOneStillSignalsItsEvents) {
  const auto event = NS::TransferPtr(device->newSharedEvent());
  const auto data = buffer({0});
  MTL::CommandBuffer* faulting = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(faulting, "out_of_bounds", data);
  dispatch(encoder, data);
  encoder->endEncoding();
  faulting->encodeSignalEvent(event.get(), 1);
  faulting->commit();
  EXPECT_TRUE(event->waitUntilSignaledValue(1, 30000));
  MTL::CommandBuffer* misused = queue->commandBuffer();
  encoder = misused->computeCommandEncoder();
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  misused->encodeSignalEvent(event.get(), 2);
  misused->commit();
  EXPECT_TRUE(event->waitUntilSignaledValue(2, 30000));
  misused->waitUntilCompleted();
  EXPECT_EQ(misused->status(), MTL::CommandBufferStatusError);
}

TEST_F(CommandBuffer, ASecondCommitRunsNothingTwice) {
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  encode_append(commands, data, 1);
  commands->commit();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(values(data)[0], 1u);
}

TEST_F(CommandBuffer, OneThatIsCommittedWithAnOpenEncoderFails) {
  MTL::CommandBuffer* commands = queue->commandBuffer();
  const auto encoder = NS::RetainPtr(commands->computeCommandEncoder());
  EXPECT_NE(failure(commands).find("was not ended"), std::string::npos);
  encoder->setBytes("x", 1, 0);  // too late, and harmless
}

TEST_F(CommandBuffer, LogsAreEmptyWithoutValidation) {
  MTL::CommandBuffer* commands = queue->commandBuffer();
  finish(commands);
  NS::FastEnumerationState state = {};
  NS::Object* found[4];
  ASSERT_NE(commands->logs(), nullptr);
  EXPECT_EQ(commands->logs()->countByEnumerating(&state, found, 4), 0u);
}

TEST_F(CommandBuffer, DebugGroupsMayStandAroundEncoders) {
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  commands->pushDebugGroup(string("layer"));
  encode_append(commands, data, 3);
  commands->popDebugGroup();
  finish(commands);
  EXPECT_EQ(values(data)[0], 3u);
}

}  // namespace
