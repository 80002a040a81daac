// os_log in kernels: who gets the messages, and which of them.
#include <Metal/Metal.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "metal_program.hpp"

namespace {

struct Message {
  std::string subsystem, category, text;
  MTL::LogLevel level;

  bool operator==(const Message&) const = default;
};

class LogProgram : public MetalProgram {
 protected:
  std::vector<Message> received;

  void SetUp() override {
    for (const char* variable : {"MTL_LOG_LEVEL", "MTL_LOG_TO_STDERR"}) unsetenv(variable);
  }

  NS::SharedPtr<MTL::LogState> log_state(MTL::LogLevel level) {
    const auto descriptor = NS::TransferPtr(MTL::LogStateDescriptor::alloc()->init());
    descriptor->setLevel(level);
    NS::Error* error = nullptr;
    auto state = NS::TransferPtr(device->newLogState(descriptor.get(), &error));
    EXPECT_TRUE(state) << text(error);
    return state;
  }

  NS::SharedPtr<MTL::LogState> log_state_with_handler(MTL::LogLevel level) {
    auto state = log_state(level);
    state->addLogHandler([this](NS::String* subsystem, NS::String* category, MTL::LogLevel level, NS::String* message) {
      received.push_back({text(subsystem), text(category), text(message), level});
    });
    return state;
  }

  NS::SharedPtr<MTL::CommandQueue> queue(const NS::SharedPtr<MTL::LogState>& state) {
    const auto descriptor = NS::TransferPtr(MTL::CommandQueueDescriptor::alloc()->init());
    descriptor->setLogState(state.get());
    return NS::TransferPtr(device->newCommandQueue(descriptor.get()));
  }

  // One thread that logs at every level.
  void log(MTL::CommandBuffer* commands) {
    const auto options = NS::TransferPtr(MTL::CompileOptions::alloc()->init());
    options->setEnableLogging(true);
    NS::Error* error = nullptr;
    const auto library = NS::TransferPtr(device->newLibrary(string(R"(
      #include <metal_logging>
      constant metal::os_log mine("com.example", "tests");
      kernel void chat(uint i [[thread_position_in_grid]]) {
        mine.log_debug("debug %u", i);
        mine.log_info("info %d", -1);
        mine.log("default %f", 0.5f);
        mine.log_error("error %s", "text");
        mine.log_fault("fault");
      })"),
                                                            options.get(), &error));
    ASSERT_TRUE(library) << text(error);
    const auto state = pipeline(function(library, "chat"));
    MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
    encoder->setComputePipelineState(state.get());
    encoder->dispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
    encoder->endEncoding();
    commands->commit();
    commands->waitUntilCompleted();
    EXPECT_EQ(commands->status(), MTL::CommandBufferStatusCompleted) << text(commands->error());
  }

  std::string printed_by(MTL::CommandBuffer* commands) {
    testing::internal::CaptureStderr();
    log(commands);
    return testing::internal::GetCapturedStderr();
  }
};

TEST_F(LogProgram, HandlersOfTheQueuesLogStateGetMessages) {
  log(queue(log_state_with_handler(MTL::LogLevelDebug))->commandBuffer());
  const std::vector<Message> expected = {{"com.example", "tests", "debug 0", MTL::LogLevelDebug},
                                         {"com.example", "tests", "info -1", MTL::LogLevelInfo},
                                         {"com.example", "tests", "default 0.500000", MTL::LogLevelNotice},
                                         {"com.example", "tests", "error text", MTL::LogLevelError},
                                         {"com.example", "tests", "fault", MTL::LogLevelFault}};
  EXPECT_EQ(received, expected);
}

TEST_F(LogProgram, MessagesBelowTheLogStatesLevelAreDropped) {
  log(queue(log_state_with_handler(MTL::LogLevelError))->commandBuffer());
  ASSERT_EQ(received.size(), 2u);
  EXPECT_EQ(received[0].level, MTL::LogLevelError);
  EXPECT_EQ(received[1].level, MTL::LogLevelFault);
}

TEST_F(LogProgram, ACommandBuffersLogStateComesBeforeItsQueues) {
  const auto of_queue = log_state(MTL::LogLevelDebug);
  int queue_messages = 0;
  of_queue->addLogHandler([&](NS::String*, NS::String*, MTL::LogLevel, NS::String*) { ++queue_messages; });
  const auto of_buffer = log_state_with_handler(MTL::LogLevelDebug);
  const auto descriptor = NS::TransferPtr(MTL::CommandBufferDescriptor::alloc()->init());
  descriptor->setLogState(of_buffer.get());
  const auto work = queue(of_queue);
  log(work->commandBuffer(descriptor.get()));
  EXPECT_EQ(received.size(), 5u);
  EXPECT_EQ(queue_messages, 0);
  log(work->commandBuffer());
  EXPECT_EQ(received.size(), 5u);
  EXPECT_EQ(queue_messages, 5);
}

TEST_F(LogProgram, EveryHandlerIsCalled) {
  const auto state = log_state_with_handler(MTL::LogLevelFault);
  std::string second;
  state->addLogHandler([&](NS::String*, NS::String*, MTL::LogLevel, NS::String* message) { second = text(message); });
  testing::internal::CaptureStderr();
  log(queue(state)->commandBuffer());
  EXPECT_EQ(received.size(), 1u);
  EXPECT_EQ(second, "fault");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(LogProgram, WithoutAHandlerMessagesArePrinted) {
  const std::string printed = printed_by(queue(log_state(MTL::LogLevelFault))->commandBuffer());
  EXPECT_EQ(printed, "[com.example:tests] Fault (kernel 'chat'): fault\n");
}

TEST_F(LogProgram, WithoutALogStateNoticesAndAboveArePrinted) {
  const auto work = NS::TransferPtr(device->newCommandQueue());
  const std::string printed = printed_by(work->commandBuffer());
  EXPECT_EQ(printed.find("info -1"), std::string::npos) << printed;
  EXPECT_NE(printed.find("default 0.5"), std::string::npos) << printed;
  EXPECT_NE(printed.find("error text"), std::string::npos) << printed;
}

TEST_F(LogProgram, TheEnvironmentChoosesTheLevelWhereThereIsNoLogState) {
  const auto work = NS::TransferPtr(device->newCommandQueue());
  setenv("MTL_LOG_LEVEL", "MTLLogLevelDebug", 1);
  EXPECT_NE(printed_by(work->commandBuffer()).find("debug 0"), std::string::npos);
  setenv("MTL_LOG_LEVEL", "MTLLogLevelFault", 1);
  EXPECT_EQ(printed_by(work->commandBuffer()).find("error text"), std::string::npos);
  log(queue(log_state_with_handler(MTL::LogLevelDebug))->commandBuffer());
  EXPECT_EQ(received.size(), 5u);
}

TEST_F(LogProgram, TheEnvironmentCanHaveHandledMessagesPrintedToo) {
  setenv("MTL_LOG_TO_STDERR", "1", 1);
  const std::string printed = printed_by(queue(log_state_with_handler(MTL::LogLevelFault))->commandBuffer());
  EXPECT_EQ(received.size(), 1u);
  EXPECT_NE(printed.find("fault"), std::string::npos);
}

TEST_F(LogProgram, TooSmallABufferIsAnError) {
  const auto descriptor = NS::TransferPtr(MTL::LogStateDescriptor::alloc()->init());
  EXPECT_GE(descriptor->bufferSize(), 1024);
  descriptor->setBufferSize(1023);
  NS::Error* error = nullptr;
  EXPECT_FALSE(device->newLogState(descriptor.get(), &error));
  ASSERT_TRUE(error);
  EXPECT_TRUE(error->domain()->isEqualToString(MTL::LogStateErrorDomain));
  EXPECT_EQ(error->code(), NS::Integer(MTL::LogStateErrorInvalidSize));
  EXPECT_FALSE(device->newLogState(nullptr, &error));
  EXPECT_EQ(error->code(), NS::Integer(MTL::LogStateErrorInvalid));
}

}  // namespace
