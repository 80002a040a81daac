#include <cstdlib>

#include "command_program.hpp"

namespace {

// A queue made while MTL_DEBUG_LAYER is set checks every rule.
class DebugLayer : public CommandProgram {
 protected:
  void SetUp() override {
    setenv("MTL_DEBUG_LAYER", "1", 1);
    checked_queue = NS::TransferPtr(device->newCommandQueue());
  }
  void TearDown() override {
    unsetenv("MTL_DEBUG_LAYER");
    unsetenv("MTL_DEBUG_LAYER_ERROR_MODE");
  }

  // What was printed while the function encoded and the command buffer ran. It must have failed with the first of it.
  template <class Encode>
  std::string report_of(Encode encode) {
    MTL::CommandBuffer* commands = checked_queue->commandBuffer();
    testing::internal::CaptureStderr();
    encode(commands);
    commands->commit();
    commands->waitUntilCompleted();
    const std::string report = testing::internal::GetCapturedStderr();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError) << report;
    EXPECT_EQ(report.substr(0, report.find('\n')), "Metal API misuse: " + text(commands->error()));
    return report;
  }

  template <class Encode>
  std::string compute_report_of(const char* kernel, Encode encode) {
    return report_of([&](MTL::CommandBuffer* commands) {
      MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
      if (kernel) encoder->setComputePipelineState(pipeline(kernel));
      encode(encoder);
      encoder->endEncoding();
    });
  }

  NS::SharedPtr<MTL::CommandQueue> checked_queue;
  const MTL::Size one = MTL::Size(1, 1, 1);
};

#define EXPECT_REPORT(report, sentence) EXPECT_EQ(report, std::string("Metal API misuse: ") + sentence + "\n")

TEST_F(DebugLayer, SaysNothingAboutACorrectProgram) {
  testing::internal::CaptureStderr();
  const auto data = buffer({1, 2, 3});
  MTL::CommandBuffer* commands = checked_queue->commandBuffer();
  encode_append(commands, data, 4);
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder();
  blit->fillBuffer(data.get(), NS::Range(4, 4), 0);
  blit->endEncoding();
  finish(commands);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(values(data), (std::vector<uint32_t>{14, 0, 34}));
}

TEST_F(DebugLayer, DoesNotMissArgumentsThatTheKernelDoesWithout) {
  const auto source = library(R"(
    template <bool biased>
    kernel void fill(device uint* data [[buffer(0)]], constant uint& bias [[buffer(1)]]) {
      data[0] = 7;
      if (biased) data[0] += bias;
    }
    template [[host_name("plain")]] kernel void fill<false>(device uint*, constant uint&);
    template [[host_name("biased")]] kernel void fill<true>(device uint*, constant uint&);
  )");
  const auto data = buffer({0});
  for (const char* name : {"plain", "biased"}) {
    const auto state = MetalProgram::pipeline(function(source, name));
    MTL::CommandBuffer* commands = checked_queue->commandBuffer();
    testing::internal::CaptureStderr();
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->setBuffer(data.get(), 0, 0);
    encoder->dispatchThreads(one, one);
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    const std::string report = testing::internal::GetCapturedStderr();
    EXPECT_EQ(report.find("'bias'") != std::string::npos, name == std::string("biased")) << report;
  }
}

TEST_F(DebugLayer, IsSilentWhenItIsOff) {
  unsetenv("MTL_DEBUG_LAYER");
  testing::internal::CaptureStderr();
  MTL::CommandBuffer* commands = queue->commandBuffer();
  const std::vector<uint8_t> large(5000);
  MTL::ComputeCommandEncoder* encoder = encode(commands, "nothing");
  encoder->setBytes(large.data(), large.size(), 3);
  encoder->dispatchThreads(one, one);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(DebugLayer, ReportsMissingArguments) {
  const auto data = buffer({0});
  EXPECT_REPORT(compute_report_of("add",
                                  [&](auto* encoder) {
                                    encoder->setBuffer(data.get(), 0, 0);
                                    encoder->dispatchThreads(one, one);
                                  }),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'value' at buffer index 1 of kernel 'add' is "
                "missing");
  EXPECT_REPORT(compute_report_of("read_texture",
                                  [&](auto* encoder) {
                                    encoder->setBuffer(buffer({0, 0, 0, 0}).get(), 0, 0);
                                    encoder->dispatchThreads(one, one);
                                  }),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'image' at texture index 0 of kernel "
                "'read_texture' is missing");
  EXPECT_REPORT(compute_report_of("through_threadgroup",
                                  [&](auto* encoder) {
                                    encoder->setBuffer(data.get(), 0, 0);
                                    encoder->dispatchThreads(one, one);
                                  }),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'scratch' at threadgroup_memory index 0 of "
                "kernel 'through_threadgroup' has no length; call setThreadgroupMemoryLength");
}

TEST_F(DebugLayer, ReportsBuffersThatAreTooSmallOrMisaligned) {
  const auto data = buffer({0, 0});
  const auto report_at = [&](NS::UInteger offset) {
    return compute_report_of("add_one", [&](auto* encoder) {
      encoder->setBuffer(data.get(), offset, 0);
      encoder->dispatchThreads(one, one);
    });
  };
  EXPECT_REPORT(report_at(8),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'data' at buffer index 0 of kernel 'add_one' "
                "needs 4 bytes, and the buffer has 0 from its offset on");
  EXPECT_REPORT(report_at(2),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'data' at buffer index 0 of kernel 'add_one' "
                "must be aligned to 4 bytes, and its offset is not");
}

TEST_F(DebugLayer, ReportsOffsetsBeyondTheEnd) {
  const auto data = buffer({0, 0});
  data->setLabel(string("weights"));
  EXPECT_REPORT(compute_report_of(nullptr, [&](auto* encoder) { encoder->setBuffer(data.get(), 9, 0); }),
                "MTL::ComputeCommandEncoder::setBuffer: offset 9 is beyond the end of the buffer 'weights', which "
                "has 8 bytes");
  EXPECT_REPORT(compute_report_of(nullptr, [&](auto* encoder) { encoder->setBufferOffset(0, 5); }),
                "MTL::ComputeCommandEncoder::setBufferOffset: no buffer is bound at index 5");
}

TEST_F(DebugLayer, ReportsTexturesOfTheWrongKind) {
  auto* descriptor = MTL::TextureDescriptor::texture2DDescriptor(MTL::PixelFormatR32Float, 4, 4, false);
  descriptor->setUsage(MTL::TextureUsageShaderWrite);
  const auto written = NS::TransferPtr(device->newTexture(descriptor));
  descriptor->setUsage(MTL::TextureUsageShaderRead);
  descriptor->setTextureType(MTL::TextureType2DArray);
  const auto array = NS::TransferPtr(device->newTexture(descriptor));
  const auto report_with = [&](const NS::SharedPtr<MTL::Texture>& texture) {
    return compute_report_of("read_texture", [&](auto* encoder) {
      encoder->setBuffer(buffer({0, 0, 0, 0}).get(), 0, 0);
      encoder->setTexture(texture.get(), 0);
      encoder->dispatchThreads(one, one);
    });
  };
  EXPECT_REPORT(report_with(written),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'image' at texture index 0 of kernel "
                "'read_texture' is read, and the usage of the texture lacks TextureUsageShaderRead");
  EXPECT_REPORT(report_with(array),
                "MTL::ComputeCommandEncoder::dispatchThreads: argument 'image' at texture index 0 of kernel "
                "'read_texture' is a texture2d, and the texture a texture2d_array");
}

TEST_F(DebugLayer, ReportsLargeBytesAndOddThreadgroupMemory) {
  const std::vector<uint8_t> large(5000);
  EXPECT_REPORT(compute_report_of(nullptr, [&](auto* encoder) { encoder->setBytes(large.data(), 5000, 0); }),
                "MTL::ComputeCommandEncoder::setBytes: setBytes takes at most 4096 bytes, and was given 5000; use a "
                "buffer");
  EXPECT_REPORT(compute_report_of(nullptr, [&](auto* encoder) { encoder->setThreadgroupMemoryLength(20, 0); }),
                "MTL::ComputeCommandEncoder::setThreadgroupMemoryLength: the length of threadgroup memory must be a "
                "multiple of 16 bytes, and is 20");
}

TEST_F(DebugLayer, ReportsBadThreadgroups) {
  const auto data = buffer({0});
  EXPECT_NE(compute_report_of("add_one",
                              [&](auto* encoder) {
                                encoder->setBuffer(data.get(), 0, 0);
                                encoder->dispatchThreads(one, MTL::Size(2000, 1, 1));
                              })
                .find("a threadgroup of 2000×1×1 threads is more than the pipeline's maxTotalThreadsPerThreadgroup"),
            std::string::npos);
  EXPECT_NE(compute_report_of(nullptr, [&](auto* encoder) { encoder->dispatchThreads(one, one); })
                .find("MTL::ComputeCommandEncoder::dispatchThreads: no compute pipeline state is set"),
            std::string::npos);
}

TEST_F(DebugLayer, ReportsEncodersThatAreNotEnded) {
  EXPECT_REPORT(report_of([&](MTL::CommandBuffer* commands) { commands->computeCommandEncoder(); }),
                "MTL::CommandBuffer::commit: an encoder of the command buffer was not ended");
  EXPECT_REPORT(report_of([&](MTL::CommandBuffer* commands) {
                  const auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
                  commands->computeCommandEncoder();
                }),
                "MTL::CommandEncoder::release: endEncoding() must be called before");
  EXPECT_REPORT(report_of([&](MTL::CommandBuffer* commands) {
                  MTL::ComputeCommandEncoder* first = commands->computeCommandEncoder();
                  commands->blitCommandEncoder()->endEncoding();
                  first->endEncoding();
                }),
                "MTL::CommandBuffer::blitCommandEncoder: an encoder of the command buffer is open; call its "
                "endEncoding()");
  EXPECT_REPORT(report_of([&](MTL::CommandBuffer* commands) {
                  MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
                  encoder->setLabel(string("upload"));
                  encoder->endEncoding();
                  encoder->endEncoding();
                }),
                "MTL::CommandEncoder::endEncoding: called after endEncoding() (encoder 'upload')");
}

TEST_F(DebugLayer, ReportsCallsInTheWrongOrder) {
  EXPECT_REPORT(report_of([&](MTL::CommandBuffer* commands) { commands->waitUntilCompleted(); }),
                "MTL::CommandBuffer::waitUntilCompleted: the command buffer was not committed: it would never be "
                "reached");
  MTL::CommandBuffer* commands = checked_queue->commandBuffer();
  finish(commands);
  testing::internal::CaptureStderr();
  commands->commit();
  commands->addCompletedHandler([](MTL::CommandBuffer*) {});
  EXPECT_EQ(commands->computeCommandEncoder(), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "Metal API misuse: MTL::CommandBuffer::commit: the command buffer was committed already\n"
            "Metal API misuse: MTL::CommandBuffer::addCompletedHandler: handlers must be added before the command "
            "buffer is committed\n"
            "Metal API misuse: MTL::CommandBuffer::computeCommandEncoder: the command buffer was committed already\n");
}

TEST_F(DebugLayer, ReportsBlitsThatBreakRules) {
  const auto data = buffer({0, 0, 0});
  const auto report_of_blit = [&](auto encode) {
    return report_of([&](MTL::CommandBuffer* commands) {
      MTL::BlitCommandEncoder* encoder = commands->blitCommandEncoder();
      encode(encoder);
      encoder->endEncoding();
    });
  };
  EXPECT_REPORT(report_of_blit([&](auto* encoder) { encoder->copyFromBuffer(data.get(), 0, data.get(), 4, 8); }),
                "MTL::BlitCommandEncoder::copyFromBuffer: source and destination of the copy overlap");
  EXPECT_REPORT(report_of_blit([&](auto* encoder) { encoder->synchronizeResource(data.get()); }),
                "MTL::BlitCommandEncoder::synchronizeResource: only resources of managed storage mode are "
                "synchronised");
}

TEST_F(DebugLayer, NamesTheCommandBuffer) {
  MTL::CommandBuffer* commands = checked_queue->commandBuffer();
  commands->setLabel(string("step 12"));
  testing::internal::CaptureStderr();
  commands->waitUntilScheduled();
  EXPECT_NE(testing::internal::GetCapturedStderr().find(" (command buffer 'step 12')\n"), std::string::npos);
}

TEST_F(DebugLayer, IgnoreModeFailsWithoutAWord) {
  setenv("MTL_DEBUG_LAYER_ERROR_MODE", "ignore", 1);
  testing::internal::CaptureStderr();
  MTL::CommandBuffer* commands = checked_queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->dispatchThreads(one, one);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
}

using DebugLayerDeathTest = DebugLayer;

TEST_F(DebugLayerDeathTest, AssertModeAborts) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        setenv("MTL_DEBUG_LAYER_ERROR_MODE", "assert", 1);
        checked_queue->commandBuffer()->waitUntilCompleted();
      },
      "MTL::CommandBuffer::waitUntilCompleted: the command buffer was not committed");
}

}  // namespace
