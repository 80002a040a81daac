#include "command_program.hpp"

namespace {

using Fence = CommandProgram;

TEST_F(Fence, OrdersEncodersOfUntrackedResources) {
  const auto fence = NS::TransferPtr(device->newFence());
  fence->setLabel(string("writes"));
  EXPECT_EQ(text(fence->label()), "writes");
  EXPECT_EQ(fence->device(), device.get());
  const auto data =
      NS::TransferPtr(device->newBuffer(1024 * sizeof(uint32_t), MTL::ResourceHazardTrackingModeUntracked));
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::BlitCommandEncoder* fill = commands->blitCommandEncoder();
  fill->fillBuffer(data.get(), NS::Range(0, data->length()), 1);
  fill->updateFence(fence.get());
  fill->endEncoding();
  MTL::ComputeCommandEncoder* encoder = encode(commands, "add_one", data);
  encoder->waitForFence(fence.get());
  dispatch(encoder, data);
  encoder->updateFence(fence.get());
  encoder->endEncoding();
  finish(commands);
  EXPECT_EQ(values(data), std::vector<uint32_t>(1024, 0x01010102));
}

}  // namespace
