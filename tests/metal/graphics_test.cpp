// A program that also draws, traces rays or loads files through Metal compiles and links; its descriptors hold what it
// puts into them, and what cannot be made is null with a reason.
#include <Metal/Metal.hpp>
#include <condition_variable>
#include <mutex>

#include "metal_program.hpp"

namespace {

class GraphicsProgram : public MetalProgram {
 protected:
  const NS::SharedPtr<MTL::Buffer> buffer = NS::TransferPtr(device->newBuffer(64, MTL::ResourceStorageModeShared));

  static void expect_for_compute_only(const NS::Error* error) {
    EXPECT_NE(text(error).find("Metalloid implements Metal for compute"), std::string::npos) << text(error);
  }
};

TEST_F(GraphicsProgram, ARenderPipelinesDescriptorHoldsItsValuesAndIsCopiedWhole) {
  const auto descriptor = NS::TransferPtr(MTL::RenderPipelineDescriptor::alloc()->init());
  EXPECT_TRUE(descriptor->isRasterizationEnabled());
  EXPECT_EQ(descriptor->rasterSampleCount(), 1u);
  EXPECT_EQ(descriptor->maxTessellationFactor(), 16u);
  MTL::RenderPipelineColorAttachmentDescriptor* color = descriptor->colorAttachments()->object(0);
  EXPECT_EQ(color->writeMask(), MTL::ColorWriteMaskAll);
  EXPECT_EQ(color->sourceRGBBlendFactor(), MTL::BlendFactorOne);

  color->setPixelFormat(MTL::PixelFormatBGRA8Unorm);
  color->setBlendingEnabled(true);
  descriptor->setLabel(string("triangle"));
  descriptor->setSampleCount(4);
  descriptor->vertexBuffers()->object(2)->setMutability(MTL::MutabilityImmutable);
  const auto copy = NS::TransferPtr(descriptor->copy());
  color->setPixelFormat(MTL::PixelFormatInvalid);
  descriptor->reset();

  EXPECT_EQ(copy->colorAttachments()->object(0)->pixelFormat(), MTL::PixelFormatBGRA8Unorm);
  EXPECT_TRUE(copy->colorAttachments()->object(0)->isBlendingEnabled());
  EXPECT_EQ(copy->rasterSampleCount(), 4u);
  EXPECT_EQ(copy->vertexBuffers()->object(2)->mutability(), MTL::MutabilityImmutable);
  EXPECT_EQ(text(copy->label()), "triangle");
  EXPECT_EQ(descriptor->label(), nullptr);
  EXPECT_EQ(descriptor->rasterSampleCount(), 1u);
  EXPECT_EQ(descriptor->colorAttachments()->object(8), nullptr);
}

TEST_F(GraphicsProgram, AttachmentsOfAPassHaveTheDefaultsOfTheirKindAndShareTheRest) {
  auto* pass = MTL::RenderPassDescriptor::renderPassDescriptor();
  MTL::RenderPassColorAttachmentDescriptor* color = pass->colorAttachments()->object(0);
  EXPECT_EQ(color->loadAction(), MTL::LoadActionDontCare);
  EXPECT_EQ(color->storeAction(), MTL::StoreActionStore);
  EXPECT_EQ(color->clearColor().alpha, 1.0);
  EXPECT_EQ(pass->depthAttachment()->loadAction(), MTL::LoadActionClear);
  EXPECT_EQ(pass->depthAttachment()->storeAction(), MTL::StoreActionDontCare);
  EXPECT_EQ(pass->depthAttachment()->clearDepth(), 1.0);

  const auto depth = NS::TransferPtr(MTL::RenderPassDepthAttachmentDescriptor::alloc()->init());
  depth->setClearDepth(0.5);
  depth->setLevel(3);  // a property of every attachment
  pass->setDepthAttachment(depth.get());
  depth->setLevel(4);
  EXPECT_EQ(pass->depthAttachment()->clearDepth(), 0.5);
  EXPECT_EQ(pass->depthAttachment()->level(), 3u);
  const MTL::RenderPassAttachmentDescriptor* any = pass->depthAttachment();
  EXPECT_EQ(any->level(), 3u);

  const MTL::SamplePosition positions[] = {{0.25f, 0.5f}, {0.75f, 0.5f}};
  pass->setSamplePositions(positions, 2);
  MTL::SamplePosition kept[2] = {};
  EXPECT_EQ(pass->getSamplePositions(kept, 2), 2u);
  EXPECT_EQ(kept[1].x, 0.75f);
}

TEST_F(GraphicsProgram, GeometryKeepsWhatEveryGeometryHasAndWhatItsKindHas) {
  auto* triangles = MTL::AccelerationStructureTriangleGeometryDescriptor::descriptor();
  triangles->setVertexBuffer(buffer.get());
  triangles->setTriangleCount(12);
  triangles->setLabel(string("cube"));
  const auto copy = NS::TransferPtr(triangles->copy());
  EXPECT_EQ(copy->vertexBuffer(), buffer.get());
  EXPECT_EQ(copy->triangleCount(), 12u);
  EXPECT_EQ(copy->vertexFormat(), MTL::AttributeFormatFloat3);
  EXPECT_EQ(text(copy->label()), "cube");
  auto* structure = MTL::PrimitiveAccelerationStructureDescriptor::descriptor();
  structure->setGeometryDescriptors(NS::Array::array(triangles));
  structure->setUsage(MTL::AccelerationStructureUsageRefit);
  EXPECT_EQ(structure->geometryDescriptors()->object(0), triangles);
  EXPECT_EQ(structure->usage(), MTL::AccelerationStructureUsageRefit);
}

TEST_F(GraphicsProgram, OtherDescriptorsHoldTheirValues) {
  auto* vertices = MTL::VertexDescriptor::vertexDescriptor();
  vertices->attributes()->object(1)->setFormat(MTL::VertexFormatFloat2);
  vertices->layouts()->object(0)->setStride(20);
  const auto copy = NS::TransferPtr(vertices->copy());
  vertices->reset();
  EXPECT_EQ(copy->attributes()->object(1)->format(), MTL::VertexFormatFloat2);
  EXPECT_EQ(copy->layouts()->object(0)->stride(), 20u);
  EXPECT_EQ(vertices->layouts()->object(0)->stride(), 0u);

  const auto depth = NS::TransferPtr(MTL::DepthStencilDescriptor::alloc()->init());
  EXPECT_EQ(depth->depthCompareFunction(), MTL::CompareFunctionAlways);
  EXPECT_EQ(depth->frontFaceStencil()->readMask(), 0xFFFFFFFFu);

  const float rates[] = {1.0f, 0.5f, 0.25f};
  const auto layer =
      NS::TransferPtr(MTL::RasterizationRateLayerDescriptor::alloc()->init(MTL::Size(3, 3, 0), rates, rates));
  auto* map = MTL::RasterizationRateMapDescriptor::rasterizationRateMapDescriptor(MTL::Size(640, 480, 0), layer.get());
  layer->horizontalSampleStorage()[1] = 0.0f;
  EXPECT_EQ(layer->horizontal()->object(1)->floatValue(), 0.0f);
  EXPECT_EQ(map->layerCount(), 1u);
  EXPECT_EQ(map->layer(0)->horizontal()->object(1)->floatValue(), 0.5f);

  const NS::Integer extents[] = {2, 3, 5};
  const auto shape = NS::TransferPtr(MTL::TensorExtents::alloc()->init(3, extents));
  const auto tensor = NS::TransferPtr(MTL::TensorDescriptor::alloc()->init());
  tensor->setDimensions(shape.get());
  tensor->setResourceOptions(MTL::ResourceStorageModePrivate);
  EXPECT_EQ(tensor->dimensions()->rank(), 3u);
  EXPECT_EQ(tensor->dimensions()->extentAtDimensionIndex(2), 5);
  EXPECT_EQ(tensor->dimensions()->extentAtDimensionIndex(3), -1);
  EXPECT_EQ(tensor->storageMode(), MTL::StorageModePrivate);

  const auto attachments = NS::TransferPtr(MTL::LogicalToPhysicalColorAttachmentMap::alloc()->init());
  attachments->setPhysicalIndex(5, 1);
  EXPECT_EQ(attachments->getPhysicalIndex(1), 5u);
  EXPECT_EQ(attachments->getPhysicalIndex(2), 2u);
}

TEST_F(GraphicsProgram, WhatIsNotThereIsNullWithAReason) {
  const auto pipeline = NS::TransferPtr(MTL::RenderPipelineDescriptor::alloc()->init());
  NS::Error* error = nullptr;
  EXPECT_EQ(device->newRenderPipelineState(pipeline.get(), &error), nullptr);
  expect_for_compute_only(error);
  EXPECT_NE(text(error).find("MTL::Device::newRenderPipelineState"), std::string::npos) << text(error);
  const auto io = NS::TransferPtr(MTL::IOCommandQueueDescriptor::alloc()->init());
  EXPECT_EQ(device->newIOCommandQueue(io.get(), &error), nullptr);
  expect_for_compute_only(error);
  EXPECT_TRUE(error->domain()->isEqualToString(MTL::IOErrorDomain));
  const auto tensor = NS::TransferPtr(MTL::TensorDescriptor::alloc()->init());
  EXPECT_EQ(device->newTensor(tensor.get(), &error), nullptr);
  EXPECT_TRUE(error->domain()->isEqualToString(MTL::TensorDomain));
  EXPECT_EQ(device->newAccelerationStructure(1024), nullptr);
  EXPECT_EQ(device->newDepthStencilState(nullptr), nullptr);
}

TEST_F(GraphicsProgram, TheReasonIsPrintedTheFirstTimeOnly) {
  const auto views = NS::TransferPtr(MTL::ResourceViewPoolDescriptor::alloc()->init());
  testing::internal::CaptureStderr();
  NS::Error* error = nullptr;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(device->newTextureViewPool(views.get(), &error), nullptr);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "metalloid: " + text(error) + "\n");
}

TEST_F(GraphicsProgram, AHandlerThatWaitsForARenderPipelineGetsTheError) {
  std::mutex mutex;
  std::condition_variable called;
  std::string reason;
  const auto pipeline = NS::TransferPtr(MTL::RenderPipelineDescriptor::alloc()->init());
  const MTL::NewRenderPipelineStateCompletionHandlerFunction handler = [&](MTL::RenderPipelineState* state,
                                                                           NS::Error* error) {
    std::lock_guard lock(mutex);
    reason = state ? "a pipeline" : text(error);
    called.notify_one();
  };
  device->newRenderPipelineState(pipeline.get(), handler);
  std::unique_lock lock(mutex);
  called.wait(lock, [&] { return !reason.empty(); });
  EXPECT_NE(reason.find("for compute"), std::string::npos) << reason;
}

TEST_F(GraphicsProgram, ACommandBufferThatWasToDrawFails) {
  const auto queue = NS::TransferPtr(device->newCommandQueue());
  MTL::CommandBuffer* commands = queue->commandBuffer();
  MTL::RenderCommandEncoder* encoder =
      commands->renderCommandEncoder(MTL::RenderPassDescriptor::renderPassDescriptor());
  EXPECT_EQ(encoder, nullptr);
  encoder->setVertexBuffer(buffer.get(), 0, 0);  // messages to nil
  encoder->drawPrimitives(MTL::PrimitiveTypeTriangle, NS::UInteger(0), NS::UInteger(3));
  EXPECT_EQ(encoder->tileWidth(), 0u);
  encoder->endEncoding();
  commands->commit();
  commands->waitUntilCompleted();
  EXPECT_EQ(commands->status(), MTL::CommandBufferStatusError);
  expect_for_compute_only(commands->error());
}

}  // namespace
