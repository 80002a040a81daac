#include "image_program.hpp"

namespace metalloid::mps {
namespace {

using CommandBufferTest = ImageTest;
INSTANTIATE_MPS_TEST(CommandBufferTest);

TEST_P(CommandBufferTest, GoesOnWithAFreshOneAndKeepsTheOrder) {
  const auto sum = NS::TransferPtr(MPS::CNNAdd::alloc()->init(device.get()));
  Tensor one = random_tensor({3, 2, 5}), empty({3, 2, 5});
  const Images ones = images_with(one), first = images_with(empty), second = images_with(empty),
               third = images_with(empty);
  auto* commands = MPS::CommandBuffer::commandBufferFromCommandQueue(queue.get());
  MTL::CommandBuffer* const before = commands->commandBuffer();
  EXPECT_EQ(commands->rootCommandBuffer(), before);
  sum->encode(commands->commandBuffer(), ones[0].get(), ones[0].get(), first[0].get());
  commands->commitAndContinue();
  EXPECT_NE(commands->commandBuffer(), before);
  EXPECT_EQ(commands->commandBuffer()->commandQueue(), queue.get());
  EXPECT_GE(before->status(), MTL::CommandBufferStatusCommitted);
  sum->encode(commands->commandBuffer(), first[0].get(), first[0].get(), second[0].get());
  commands->commitAndContinue();
  sum->encode(commands->commandBuffer(), second[0].get(), ones[0].get(), third[0].get());
  commands->prefetchHeapForWorkloadSize(1 << 20);
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(before->status(), MTL::CommandBufferStatusCompleted);
  EXPECT_EQ(commands->commandBuffer()->error(), nullptr);
  Tensor expected = one;
  for (double& number : expected.numbers) number *= 5;
  expect_near(numbers_of(third), expected, 8 * 0x1p-24, "five times");
}

TEST_P(CommandBufferTest, TakesTemporaryImagesAlongWhenItGoesOn) {
  const auto sum = NS::TransferPtr(MPS::CNNAdd::alloc()->init(device.get()));
  Tensor one = random_tensor({3, 2, 5}), empty({3, 2, 5});
  const Images ones = images_with(one), result = images_with(empty);
  auto* commands = MPS::CommandBuffer::commandBufferFromCommandQueue(queue.get());
  MPS::Image* two = sum->encode(commands->commandBuffer(), ones[0].get(), ones[0].get());
  MTL::CommandBuffer* const before = commands->commandBuffer();
  commands->commitAndContinue();
  before->waitUntilCompleted();
  // Memory of the same size, which is not that of `two`, now that the first commands are done.
  MPS::Image* four = sum->encode(commands->commandBuffer(), ones[0].get(), ones[0].get());
  MPS::Image* five = sum->encode(commands->commandBuffer(), four, ones[0].get());
  sum->encode(commands->commandBuffer(), two, five, result[0].get());
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->commandBuffer()->error(), nullptr);
  Tensor expected = one;
  for (double& number : expected.numbers) number *= 5;
  expect_near(numbers_of(result), expected, 8 * 0x1p-24, "two and three times");
}

TEST_P(CommandBufferTest, StandsBeforeACommandBufferOfTheProgram) {
  MTL::CommandBuffer* own = queue->commandBuffer();
  EXPECT_EQ(MPS::CommandBuffer::commandBuffer(own)->commandBuffer(), own);
  EXPECT_EQ(MPS::CommandBuffer::commandBuffer(nullptr), nullptr);
  EXPECT_EQ(MPS::CommandBuffer::commandBufferFromCommandQueue(nullptr), nullptr);
}

}  // namespace
}  // namespace metalloid::mps
