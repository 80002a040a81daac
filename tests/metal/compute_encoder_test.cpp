#include <numeric>

#include "command_program.hpp"

namespace {

using ComputeEncoder = CommandProgram;

TEST_F(ComputeEncoder, BytesAreCopiedWhenTheyAreSet) {
  const auto data = buffer({1, 2, 3});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add", data);
  uint32_t value = 10;
  encoder->setBytes(&value, sizeof value, 1);
  value = 99;
  dispatch(encoder, data);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{11, 12, 13}));
}

// Programs pass the bytes of a vector, and a vector may be empty.
TEST_F(ComputeEncoder, NoBytesAreSetFromNowhere) {
  const auto data = buffer({1, 2, 3});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
  encoder->setBytes(nullptr, 0, 1);
  dispatch(encoder, data);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{2, 3, 4}));
}

TEST_F(ComputeEncoder, ADispatchSeesWhatIsBoundAtThatMoment) {
  const auto data = buffer({0}), other = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "append_digit", data);
  for (uint32_t digit : {1u, 2u, 3u}) {
    encoder->setBytes(&digit, sizeof digit, 1);
    dispatch(encoder, data);
  }
  dispatch(encoder, data);
  encoder->setBuffer(other.get(), 0, 0);
  dispatch(encoder, data);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data)[0], 1233u);
  EXPECT_EQ(values(other)[0], 3u);
}

TEST_F(ComputeEncoder, OffsetsMoveIntoTheBuffer) {
  const auto data = buffer({0, 0, 0, 0});
  const uint32_t value = 5;
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add", data);
  encoder->setBytes(&value, sizeof value, 1);
  encoder->setBuffer(data.get(), 4, 0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->setBufferOffset(12, 0);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{0, 5, 0, 5}));
}

TEST_F(ComputeEncoder, BuffersAreBoundInArrays) {
  const auto sum = buffer({0, 0}), a = buffer({9, 1, 2}), b = buffer({3, 4});
  const MTL::Buffer* buffers[] = {sum.get(), a.get(), b.get()};
  const NS::UInteger offsets[] = {0, 4, 0};
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "weighted_sum");
  encoder->setBuffers(buffers, offsets, NS::Range(0, 3));
  dispatch(encoder, sum);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(sum), (std::vector<uint32_t>{301, 402}));
}

TEST_F(ComputeEncoder, RaggedGridsHaveExactlyTheirThreads) {
  for (const uint32_t threads : {1u, 31u, 33u, 100u, 257u}) {
    const auto data = buffer(std::vector<uint32_t>(threads + 64, 7));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
    encoder->dispatchThreads(MTL::Size(threads, 1, 1), MTL::Size(64, 1, 1));
    encoder->endEncoding();
    finish(commands);
    std::vector<uint32_t> expected(threads + 64, 7);
    std::fill_n(expected.begin(), threads, 8);
    EXPECT_EQ(values(data), expected) << threads;
  }
}

TEST_F(ComputeEncoder, ThreadgroupsMakeAFullGrid) {
  const auto data = buffer(std::vector<uint32_t>(12));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "places", data);
  encoder->dispatchThreadgroups(MTL::Size(3, 1, 1), MTL::Size(4, 1, 1));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), std::vector<uint32_t>(12, 12004));
}

TEST_F(ComputeEncoder, AnIndirectDispatchReadsItsSizeWhenItsTurnHasCome) {
  const auto data = buffer(std::vector<uint32_t>(64));
  const auto size = buffer({77, 0, 1, 1});  // three words from the second on
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add", size);
  const uint32_t value = 3;
  encoder->setBuffer(size.get(), 4, 0);
  encoder->setBytes(&value, sizeof value, 1);
  encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  encoder->memoryBarrier(MTL::BarrierScopeBuffers);
  encoder->setComputePipelineState(pipeline("add_one"));
  encoder->setBuffer(data.get(), 0, 0);
  encoder->dispatchThreadgroups(size.get(), 4, MTL::Size(8, 1, 1));
  encoder->endEncoding();
  finish(commands);
  std::vector<uint32_t> expected(64);
  std::fill_n(expected.begin(), 24, 1);
  EXPECT_EQ(values(data), expected);
}

TEST_F(ComputeEncoder, ThreadgroupMemoryHasTheLengthItWasGiven) {
  std::vector<uint32_t> numbers(256);
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto data = buffer(numbers);
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "through_threadgroup", data);
  encoder->setThreadgroupMemoryLength(256 * sizeof(uint32_t), 0);
  encoder->dispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(256, 1, 1));
  encoder->endEncoding();
  finish(commands);
  std::reverse(numbers.begin(), numbers.end());
  EXPECT_EQ(values(data), numbers);
}

TEST_F(ComputeEncoder, LevelClampsOfASamplerCanBeOverridden) {
  auto* image_descriptor = MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 4, 4, true);
  const auto image = NS::TransferPtr(device->newTexture(image_descriptor));
  for (NS::UInteger level = 0; level < 3; ++level) {
    const std::vector<float> texels(16, static_cast<float>(level));
    image->replaceRegion(MTL::Region(0, 0, 4 >> level, 4 >> level), level, texels.data(), (4 >> level) * sizeof(float));
  }
  const auto descriptor = NS::TransferPtr(MTL::SamplerDescriptor::alloc()->init());
  descriptor->setMipFilter(MTL::SamplerMipFilterNearest);
  const auto sampler = NS::TransferPtr(device->newSamplerState(descriptor.get()));
  const auto sampled = [&](float level, auto bind) {
    const auto value = NS::TransferPtr(device->newBuffer(sizeof(float), MTL::ResourceStorageModeShared));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = encode(commands, "sample_level", value);
    encoder->setTexture(image.get(), 0);
    encoder->setBytes(&level, sizeof level, 1);
    bind(encoder);
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    finish(commands);
    return *static_cast<const float*>(value->contents());
  };
  EXPECT_EQ(sampled(2, [&](auto* encoder) { encoder->setSamplerState(sampler.get(), 0); }), 2);
  EXPECT_EQ(sampled(2, [&](auto* encoder) { encoder->setSamplerState(sampler.get(), 0, 1, 0); }), 1);
  EXPECT_EQ(sampled(0, [&](auto* encoder) { encoder->setSamplerState(sampler.get(), 1, 2, 0); }), 1);
}

TEST_F(ComputeEncoder, SerialAndConcurrentDispatchesGiveTheSameResults) {
  for (const MTL::DispatchType type : {MTL::DispatchTypeSerial, MTL::DispatchTypeConcurrent}) {
    const auto data = buffer(std::vector<uint32_t>(100));
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder(type);
    EXPECT_EQ(encoder->dispatchType(), type);
    encoder->setComputePipelineState(pipeline("add_one"));
    encoder->setBuffer(data.get(), 0, 0);
    for (int i = 0; i < 10; ++i) {
      dispatch(encoder, data);
      const MTL::Resource* resources[] = {data.get()};
      encoder->memoryBarrier(resources, 1);
    }
    encoder->endEncoding();
    finish(commands);
    EXPECT_EQ(values(data), std::vector<uint32_t>(100, 10));
  }
}

TEST_F(ComputeEncoder, AnEmptyGridRunsNothing) {
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
  encoder->dispatchThreads(MTL::Size(0, 1, 1), MTL::Size(32, 1, 1));
  encoder->dispatchThreadgroups(MTL::Size(1, 0, 1), MTL::Size(1, 1, 1));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data)[0], 0u);
}

TEST_F(ComputeEncoder, AFunctionOfMissingResourcesMayRunIfItDoesNotTouchThem) {
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "nothing");
  encoder->dispatchThreads(MTL::Size(5, 5, 5), MTL::Size(2, 2, 2));
  encoder->endEncoding();
  finish(commands);
}

// Without the debug layer too: what would crash makes the command buffer fail, with a sentence that says why.
TEST_F(ComputeEncoder, DangerousDispatchesFailTheCommandBuffer) {
  const auto data = buffer({0});
  const auto failure_of = [&](const char* kernel, auto encode_rest) {
    MTL::CommandBuffer* commands = queue->commandBuffer();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    if (kernel) encoder->setComputePipelineState(pipeline(kernel));
    encoder->setBuffer(data.get(), 0, 0);
    encode_rest(encoder);
    encoder->endEncoding();
    return failure(commands);
  };
  const MTL::Size one(1, 1, 1);
  EXPECT_EQ(failure_of(nullptr, [&](auto* encoder) { encoder->dispatchThreads(one, one); }),
            "MTL::ComputeCommandEncoder::dispatchThreads: no compute pipeline state is set");
  EXPECT_EQ(failure_of("add_one", [&](auto* encoder) { encoder->dispatchThreads(one, MTL::Size(0, 1, 1)); }),
            "MTL::ComputeCommandEncoder::dispatchThreads: the threadgroup's size must not be zero in any direction "
            "(kernel 'add_one')");
  EXPECT_EQ(failure_of("add_one", [&](auto* encoder) { encoder->dispatchThreadgroups(one, MTL::Size(64, 64, 1)); }),
            "MTL::ComputeCommandEncoder::dispatchThreadgroups: a threadgroup of 64×64×1 threads is more than the "
            "pipeline's maxTotalThreadsPerThreadgroup of 1024 (kernel 'add_one')");
  EXPECT_EQ(failure_of("through_threadgroup",
                       [&](auto* encoder) {
                         encoder->setThreadgroupMemoryLength(1 << 20, 0);
                         encoder->dispatchThreads(one, one);
                       }),
            "MTL::ComputeCommandEncoder::dispatchThreads: threadgroup memory of 1048576 bytes is more than the "
            "device's maxThreadgroupMemoryLength of " +
                std::to_string(device->maxThreadgroupMemoryLength()) + " (kernel 'through_threadgroup')");
  EXPECT_NE(failure_of("add_one",
                       [&](auto* encoder) {
                         encoder->dispatchThreadgroups(MTL::Size(NS::UInteger{1} << 62, 1, 1), MTL::Size(4, 1, 1));
                       })
                .find("a grid has at most 2^32 - 1 threads in each direction"),
            std::string::npos);
  EXPECT_EQ(failure_of("add_one", [&](auto* encoder) { encoder->setBuffer(data.get(), 0, 31); }),
            "MTL::ComputeCommandEncoder::setBuffer: index 31 is beyond the 31 entries of the table of buffers");
  EXPECT_EQ(failure_of("add_one",
                       [&](auto* encoder) {
                         encoder->setBuffer(data.get(), 4096, 0);
                         encoder->dispatchThreads(one, one);
                       }),
            "MTL::ComputeCommandEncoder::setBuffer: offset 4096 is beyond the end of the buffer, which has 4 bytes");
  EXPECT_EQ(failure_of("add_one",
                       [&](auto* encoder) {
                         encoder->setBufferOffset(5, 0);
                         encoder->dispatchThreads(one, one);
                       }),
            "MTL::ComputeCommandEncoder::setBufferOffset: offset 5 is beyond the end of the buffer of 4 bytes at "
            "index 0");
  EXPECT_EQ(failure_of("add_one", [&](auto* encoder) { encoder->dispatchThreadgroups(data.get(), 0, one); }),
            "MTL::ComputeCommandEncoder::dispatchThreadgroups: 12 bytes at offset 0 reach beyond the end of the "
            "buffer, which has 4 bytes");
  EXPECT_EQ(values(data)[0], 0u);
}

TEST_F(ComputeEncoder, NothingCanBeEncodedAfterItsEnd) {
  const auto data = buffer({0});
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
  encoder->endEncoding();
  dispatch(encoder, data);
  EXPECT_EQ(failure(commands), "MTL::ComputeCommandEncoder::dispatchThreads: called after endEncoding()");
  EXPECT_EQ(values(data)[0], 0u);
}

}  // namespace
