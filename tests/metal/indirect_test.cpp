#include "command_program.hpp"

namespace {

class Indirect : public CommandProgram {
 protected:
  NS::SharedPtr<MTL::ComputePipelineState> indirect_pipeline(const char* name) {
    const auto descriptor = NS::TransferPtr(MTL::ComputePipelineDescriptor::alloc()->init());
    descriptor->setComputeFunction(function(library(kernels), name).get());
    descriptor->setSupportIndirectCommandBuffers(true);
    NS::Error* error = nullptr;
    auto made =
        NS::TransferPtr(device->newComputePipelineState(descriptor.get(), MTL::PipelineOptionNone, nullptr, &error));
    EXPECT_TRUE(made) << text(error);
    return made;
  }

  NS::SharedPtr<MTL::IndirectCommandBuffer> commands_for(NS::UInteger count, bool inherit_pipeline,
                                                         bool inherit_buffers) {
    const auto descriptor = NS::TransferPtr(MTL::IndirectCommandBufferDescriptor::alloc()->init());
    descriptor->setCommandTypes(MTL::IndirectCommandTypeConcurrentDispatchThreads |
                                MTL::IndirectCommandTypeConcurrentDispatch);
    descriptor->setInheritPipelineState(inherit_pipeline);
    descriptor->setInheritBuffers(inherit_buffers);
    descriptor->setMaxKernelBufferBindCount(4);
    return NS::TransferPtr(device->newIndirectCommandBuffer(descriptor.get(), count, MTL::ResourceStorageModeShared));
  }
};

TEST_F(Indirect, CommandsAreExecutedInOrderAndAsOftenAsAsked) {
  const auto state = indirect_pipeline("append_digit");
  const auto data = buffer({0, 0}), digits = buffer({1, 2, 3, 4});
  const auto indirect = commands_for(4, false, false);
  ASSERT_TRUE(indirect);
  EXPECT_EQ(indirect->size(), 4u);
  for (NS::UInteger i = 0; i < 4; ++i) {
    MTL::IndirectComputeCommand* command = indirect->indirectComputeCommand(i);
    command->setComputePipelineState(state.get());
    command->setKernelBuffer(data.get(), 0, 0);
    command->setKernelBuffer(digits.get(), i * sizeof(uint32_t), 1);
    command->concurrentDispatchThreads(MTL::Size(2, 1, 1), MTL::Size(2, 1, 1));
    command->setBarrier();
  }
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->useResource(data.get(), MTL::ResourceUsageRead | MTL::ResourceUsageWrite);
  encoder->executeCommandsInBuffer(indirect.get(), NS::Range(0, 4));
  encoder->executeCommandsInBuffer(indirect.get(), NS::Range(1, 2));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{123423, 123423}));
}

TEST_F(Indirect, CommandsInheritWhatTheEncoderHasBound) {
  const auto data = buffer({0, 0, 0});
  const auto indirect = commands_for(2, true, true);
  indirect->indirectComputeCommand(0)->concurrentDispatchThreads(MTL::Size(3, 1, 1), MTL::Size(1, 1, 1));
  indirect->indirectComputeCommand(1)->concurrentDispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(2, 1, 1));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "append_digit", data);
  for (uint32_t digit : {1u, 2u}) {
    encoder->setBytes(&digit, sizeof digit, 1);
    encoder->executeCommandsInBuffer(indirect.get(), NS::Range(digit - 1, 1));
  }
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{12, 12, 1}));
}

TEST_F(Indirect, TheRangeCanComeFromTheDevice) {
  const auto state = indirect_pipeline("add_one");
  const auto data = buffer({0, 0, 0, 0}), range = buffer({0, 1});
  const auto indirect = commands_for(4, false, false);
  for (NS::UInteger i = 0; i < 4; ++i) {
    MTL::IndirectComputeCommand* command = indirect->indirectComputeCommand(i);
    command->setComputePipelineState(state.get());
    command->setKernelBuffer(data.get(), i * sizeof(uint32_t), 0);
    command->concurrentDispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  }
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", range);
  dispatch(encoder, range);  // now two commands from the second on
  encoder->executeCommandsInBuffer(indirect.get(), range.get(), 0);
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{0, 1, 1, 0}));
}

TEST_F(Indirect, CommandsAreCopiedAndResetByTheDevice) {
  const auto state = indirect_pipeline("add_one");
  const auto data = buffer({0, 0});
  const auto source = commands_for(2, false, false), destination = commands_for(3, false, false);
  for (NS::UInteger i = 0; i < 2; ++i) {
    MTL::IndirectComputeCommand* command = source->indirectComputeCommand(i);
    command->setComputePipelineState(state.get());
    command->setKernelBuffer(data.get(), i * sizeof(uint32_t), 0);
    command->concurrentDispatchThreads(MTL::Size(1, 1, 1), MTL::Size(1, 1, 1));
  }
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* blit = commands->blitCommandEncoder();
  blit->copyIndirectCommandBuffer(source.get(), NS::Range(0, 2), destination.get(), 1);
  blit->optimizeIndirectCommandBuffer(destination.get(), NS::Range(0, 3));
  blit->resetCommandsInBuffer(destination.get(), NS::Range(1, 1));
  blit->endEncoding();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->executeCommandsInBuffer(destination.get(), NS::Range(0, 3));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{0, 1}));
}

TEST_F(Indirect, ThreadgroupMemoryBelongsToTheCommand) {
  const auto state = indirect_pipeline("through_threadgroup");
  const auto data = buffer({1, 2, 3, 4});
  const auto indirect = commands_for(1, false, false);
  MTL::IndirectComputeCommand* command = indirect->indirectComputeCommand(0);
  command->setComputePipelineState(state.get());
  command->setKernelBuffer(data.get(), 0, 0);
  command->setThreadgroupMemoryLength(16, 0);
  command->concurrentDispatchThreadgroups(MTL::Size(1, 1, 1), MTL::Size(4, 1, 1));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->executeCommandsInBuffer(indirect.get(), NS::Range(0, 1));
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), (std::vector<uint32_t>{4, 3, 2, 1}));
}

TEST_F(Indirect, ADangerousCommandFailsTheCommandBuffer) {
  const auto state = indirect_pipeline("add_one");
  const auto data = buffer({0});
  const auto indirect = commands_for(1, false, false);
  MTL::IndirectComputeCommand* command = indirect->indirectComputeCommand(0);
  command->setComputePipelineState(state.get());
  command->setKernelBuffer(data.get(), 0, 0);
  command->concurrentDispatchThreads(MTL::Size(1, 1, 1), MTL::Size(2048, 1, 1));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::ComputeCommandEncoder* encoder = commands->computeCommandEncoder();
  encoder->executeCommandsInBuffer(indirect.get(), NS::Range(0, 1));
  encoder->endEncoding();
  EXPECT_EQ(
      failure(commands),
      "MTL::ComputeCommandEncoder::executeCommandsInBuffer: indirect command 0: a threadgroup of 2048×1×1 threads "
      "is more than the pipeline's maxTotalThreadsPerThreadgroup of 1024 (kernel 'add_one')");
  EXPECT_EQ(values(data)[0], 0u);
}

}  // namespace
