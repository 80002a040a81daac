#include <cstring>

#include "command_program.hpp"

namespace {

class Counters : public CommandProgram {
 protected:
  NS::SharedPtr<MTL::CounterSampleBuffer> samples(NS::UInteger count,
                                                  MTL::StorageMode storage = MTL::StorageModeShared) {
    const auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
    descriptor->setCounterSet(device->counterSets()->object<MTL::CounterSet>(0));
    descriptor->setSampleCount(count);
    descriptor->setStorageMode(storage);
    descriptor->setLabel(string("times"));
    NS::Error* error = nullptr;
    auto made = NS::TransferPtr(device->newCounterSampleBuffer(descriptor.get(), &error));
    EXPECT_TRUE(made) << text(error);
    return made;
  }

  static std::vector<uint64_t> resolved(const NS::SharedPtr<MTL::CounterSampleBuffer>& samples) {
    NS::Data* data = samples->resolveCounterRange(NS::Range(0, samples->sampleCount()));
    std::vector<uint64_t> times(data->length() / sizeof(uint64_t));
    std::memcpy(times.data(), data->mutableBytes(), data->length());
    return times;
  }
};

TEST_F(Counters, TheDeviceCountsTime) {
  ASSERT_EQ(device->counterSets()->count(), 1u);
  const auto* set = device->counterSets()->object<MTL::CounterSet>(0);
  EXPECT_TRUE(set->name()->isEqualToString(MTL::CommonCounterSetTimestamp));
  ASSERT_EQ(set->counters()->count(), 1u);
  EXPECT_TRUE(set->counters()->object<MTL::Counter>(0)->name()->isEqualToString(MTL::CommonCounterTimestamp));
  EXPECT_TRUE(device->supportsCounterSampling(MTL::CounterSamplingPointAtStageBoundary));
  EXPECT_TRUE(device->supportsCounterSampling(MTL::CounterSamplingPointAtDispatchBoundary));
  EXPECT_FALSE(device->supportsCounterSampling(MTL::CounterSamplingPointAtDrawBoundary));
}

TEST_F(Counters, PassesAreSampledAtTheirBoundaries) {
  const auto times = samples(4);
  const auto data = buffer(std::vector<uint32_t>(1000));
  MTL::ComputePassDescriptor* pass = MTL::ComputePassDescriptor::computePassDescriptor();
  pass->sampleBufferAttachments()->object(0)->setSampleBuffer(times.get());
  pass->sampleBufferAttachments()->object(0)->setStartOfEncoderSampleIndex(0);
  pass->sampleBufferAttachments()->object(0)->setEndOfEncoderSampleIndex(1);
  MTL::BlitPassDescriptor* blit_pass = MTL::BlitPassDescriptor::blitPassDescriptor();
  blit_pass->sampleBufferAttachments()->object(0)->setSampleBuffer(times.get());
  blit_pass->sampleBufferAttachments()->object(0)->setStartOfEncoderSampleIndex(2);
  blit_pass->sampleBufferAttachments()->object(0)->setEndOfEncoderSampleIndex(3);
  MTL::Timestamp host_before, device_before, host_after, device_after;
  device->sampleTimestamps(&host_before, &device_before);
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(pass);
  encoder->setComputePipelineState(pipeline("add_one"));
  encoder->setBuffer(data.get(), 0, 0);
  dispatch(encoder, data);
  encoder->endEncoding();
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder(blit_pass);
  blit->fillBuffer(data.get(), NS::Range(0, 4), 0);
  blit->endEncoding();
  finish(commands);
  device->sampleTimestamps(&host_after, &device_after);
  const std::vector<uint64_t> sampled = resolved(times);
  EXPECT_GE(sampled[0], device_before);
  EXPECT_LT(sampled[0], sampled[1]);
  EXPECT_LE(sampled[1], sampled[2]);
  EXPECT_LE(sampled[2], sampled[3]);
  EXPECT_LE(sampled[3], device_after);
  EXPECT_LE(host_before, host_after);
}

TEST_F(Counters, SamplesBetweenDispatchesAreResolvedByTheDevice) {
  const auto times = samples(3, MTL::StorageModePrivate);
  const auto data = buffer(std::vector<uint32_t>(1000)), result = buffer(std::vector<uint32_t>(8, 1));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
  for (NS::UInteger i = 0; i < 3; ++i) {
    encoder->sampleCountersInBuffer(times.get(), i, true);
    dispatch(encoder, data);
  }
  encoder->endEncoding();
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder();
  blit->resolveCounters(times.get(), NS::Range(0, 3), result.get(), 8);
  blit->endEncoding();
  finish(commands);
  uint64_t sampled[4];
  std::memcpy(sampled, result->contents(), sizeof sampled);
  EXPECT_EQ(sampled[0], 0x100000001u);
  EXPECT_LT(sampled[1], sampled[2]);
  EXPECT_LT(sampled[2], sampled[3]);
}

TEST_F(Counters, WhatWasNotSampledIsAnError) {
  const auto times = samples(2);
  EXPECT_EQ(times->sampleCount(), 2u);
  EXPECT_EQ(text(times->label()), "times");
  EXPECT_EQ(resolved(times), (std::vector<uint64_t>(2, MTL::CounterErrorValue)));
}

TEST_F(Counters, ASampleBufferNeedsACounterSet) {
  const auto descriptor = NS::TransferPtr(MTL::CounterSampleBufferDescriptor::alloc()->init());
  descriptor->setSampleCount(1);
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newCounterSampleBuffer(descriptor.get(), &error), nullptr);
  ASSERT_NE(error, nullptr);
  EXPECT_TRUE(error->domain()->isEqualToString(MTL::CounterErrorDomain));
}

TEST_F(Counters, ASampleBeyondTheBufferFailsTheCommandBuffer) {
  const auto times = samples(2);
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder();
  blit->sampleCountersInBuffer(times.get(), 2, false);
  blit->endEncoding();
  EXPECT_EQ(failure(commands),
            "MTL::BlitCommandEncoder::sampleCountersInBuffer: sample 2 is beyond the sample buffer's sampleCount of 2");
}

}  // namespace
