// Descriptors of render passes. There is nothing to draw with.
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLCounters.hpp>
#include <Metal/MTLRasterizationRate.hpp>
#include <Metal/MTLRenderPass.hpp>
#include <Metal/MTLTexture.hpp>
#include <algorithm>
#include <vector>

#include "metal/absent.hpp"
#include "metal/command_buffer.hpp"

namespace metalloid::metal {

struct RenderPassAttachmentProperties {
  static constexpr const char* class_name = "MTLRenderPassAttachmentDescriptor";
  NS::UInteger depthPlane = 0;
  NS::UInteger level = 0;
  MTL::LoadAction loadAction = MTL::LoadActionDontCare;
  NS::UInteger resolveDepthPlane = 0;
  NS::UInteger resolveLevel = 0;
  NS::UInteger resolveSlice = 0;
  NS::SharedPtr<MTL::Texture> resolveTexture;
  NS::UInteger slice = 0;
  MTL::StoreAction storeAction = MTL::StoreActionDontCare;
  MTL::StoreActionOptions storeActionOptions = MTL::StoreActionOptionNone;
  NS::SharedPtr<MTL::Texture> texture;
};
BASE_PROPERTIES(RenderPassAttachmentDescriptor, RenderPassAttachmentProperties)

struct RenderPassColorAttachmentProperties {
  static constexpr const char* class_name = "MTLRenderPassColorAttachmentDescriptor";
  MTL::ClearColor clearColor = MTL::ClearColor(0, 0, 0, 1);

  static RenderPassAttachmentProperties inherited() {
    RenderPassAttachmentProperties defaults;
    defaults.storeAction = MTL::StoreActionStore;
    return defaults;
  }
};
DERIVED_PROPERTIES(RenderPassColorAttachmentDescriptor, RenderPassAttachmentProperties,
                   RenderPassColorAttachmentProperties)

struct RenderPassDepthAttachmentProperties {
  static constexpr const char* class_name = "MTLRenderPassDepthAttachmentDescriptor";
  double clearDepth = 1;
  MTL::MultisampleDepthResolveFilter depthResolveFilter = MTL::MultisampleDepthResolveFilterSample0;

  static RenderPassAttachmentProperties inherited() {
    RenderPassAttachmentProperties defaults;
    defaults.loadAction = MTL::LoadActionClear;
    return defaults;
  }
};
DERIVED_PROPERTIES(RenderPassDepthAttachmentDescriptor, RenderPassAttachmentProperties,
                   RenderPassDepthAttachmentProperties)

struct RenderPassStencilAttachmentProperties {
  static constexpr const char* class_name = "MTLRenderPassStencilAttachmentDescriptor";
  uint32_t clearStencil = 0;
  MTL::MultisampleStencilResolveFilter stencilResolveFilter = MTL::MultisampleStencilResolveFilterSample0;

  static RenderPassAttachmentProperties inherited() {
    RenderPassAttachmentProperties defaults;
    defaults.loadAction = MTL::LoadActionClear;
    return defaults;
  }
};
DERIVED_PROPERTIES(RenderPassStencilAttachmentDescriptor, RenderPassAttachmentProperties,
                   RenderPassStencilAttachmentProperties)

struct RenderPassSampleBufferProperties {
  static constexpr const char* class_name = "MTLRenderPassSampleBufferAttachmentDescriptor";
  NS::UInteger endOfFragmentSampleIndex = 0;
  NS::UInteger endOfVertexSampleIndex = 0;
  NS::SharedPtr<MTL::CounterSampleBuffer> sampleBuffer;
  NS::UInteger startOfFragmentSampleIndex = 0;
  NS::UInteger startOfVertexSampleIndex = 0;
};
PROPERTIES(RenderPassSampleBufferAttachmentDescriptor, RenderPassSampleBufferProperties)

struct RenderPassProperties {
  static constexpr const char* class_name = "MTLRenderPassDescriptor";
  Nested<MTL::RenderPassColorAttachmentDescriptorArray> colorAttachments;
  NS::UInteger defaultRasterSampleCount = 0;
  Nested<MTL::RenderPassDepthAttachmentDescriptor> depthAttachment;
  NS::UInteger imageblockSampleLength = 0;
  NS::SharedPtr<MTL::RasterizationRateMap> rasterizationRateMap;
  NS::UInteger renderTargetArrayLength = 0;
  NS::UInteger renderTargetHeight = 0;
  NS::UInteger renderTargetWidth = 0;
  Nested<MTL::RenderPassSampleBufferAttachmentDescriptorArray> sampleBufferAttachments;
  Nested<MTL::RenderPassStencilAttachmentDescriptor> stencilAttachment;
  bool supportColorAttachmentMapping = false;
  NS::UInteger threadgroupMemoryLength = 0;
  NS::UInteger tileHeight = 0;
  NS::UInteger tileWidth = 0;
  NS::SharedPtr<MTL::Buffer> visibilityResultBuffer;
  MTL::VisibilityResultType visibilityResultType = MTL::VisibilityResultTypeReset;
  std::vector<MTL::SamplePosition> sample_positions;
};
PROPERTIES(RenderPassDescriptor, RenderPassProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(RenderPassAttachmentDescriptor)
PROPERTY(RenderPassAttachmentDescriptor, depthPlane, setDepthPlane)
PROPERTY(RenderPassAttachmentDescriptor, level, setLevel)
PROPERTY(RenderPassAttachmentDescriptor, loadAction, setLoadAction)
PROPERTY(RenderPassAttachmentDescriptor, resolveDepthPlane, setResolveDepthPlane)
PROPERTY(RenderPassAttachmentDescriptor, resolveLevel, setResolveLevel)
PROPERTY(RenderPassAttachmentDescriptor, resolveSlice, setResolveSlice)
PROPERTY(RenderPassAttachmentDescriptor, resolveTexture, setResolveTexture)
PROPERTY(RenderPassAttachmentDescriptor, slice, setSlice)
PROPERTY(RenderPassAttachmentDescriptor, storeAction, setStoreAction)
PROPERTY(RenderPassAttachmentDescriptor, storeActionOptions, setStoreActionOptions)
PROPERTY(RenderPassAttachmentDescriptor, texture, setTexture)

ALLOC(RenderPassColorAttachmentDescriptor)
PROPERTY(RenderPassColorAttachmentDescriptor, clearColor, setClearColor)

DESCRIPTOR_ARRAY(RenderPassColorAttachmentDescriptorArray, RenderPassColorAttachmentDescriptor, 8)

ALLOC(RenderPassDepthAttachmentDescriptor)
PROPERTY(RenderPassDepthAttachmentDescriptor, clearDepth, setClearDepth)
PROPERTY(RenderPassDepthAttachmentDescriptor, depthResolveFilter, setDepthResolveFilter)

ALLOC(RenderPassStencilAttachmentDescriptor)
PROPERTY(RenderPassStencilAttachmentDescriptor, clearStencil, setClearStencil)
PROPERTY(RenderPassStencilAttachmentDescriptor, stencilResolveFilter, setStencilResolveFilter)

ALLOC(RenderPassSampleBufferAttachmentDescriptor)
PROPERTY(RenderPassSampleBufferAttachmentDescriptor, endOfFragmentSampleIndex, setEndOfFragmentSampleIndex)
PROPERTY(RenderPassSampleBufferAttachmentDescriptor, endOfVertexSampleIndex, setEndOfVertexSampleIndex)
PROPERTY(RenderPassSampleBufferAttachmentDescriptor, sampleBuffer, setSampleBuffer)
PROPERTY(RenderPassSampleBufferAttachmentDescriptor, startOfFragmentSampleIndex, setStartOfFragmentSampleIndex)
PROPERTY(RenderPassSampleBufferAttachmentDescriptor, startOfVertexSampleIndex, setStartOfVertexSampleIndex)

DESCRIPTOR_ARRAY(RenderPassSampleBufferAttachmentDescriptorArray, RenderPassSampleBufferAttachmentDescriptor, 4)

ALLOC(RenderPassDescriptor)
AUTORELEASED(RenderPassDescriptor, renderPassDescriptor)
READ_PROPERTY(RenderPassDescriptor, colorAttachments)
PROPERTY(RenderPassDescriptor, defaultRasterSampleCount, setDefaultRasterSampleCount)
PROPERTY(RenderPassDescriptor, depthAttachment, setDepthAttachment)
PROPERTY(RenderPassDescriptor, imageblockSampleLength, setImageblockSampleLength)
PROPERTY(RenderPassDescriptor, rasterizationRateMap, setRasterizationRateMap)
PROPERTY(RenderPassDescriptor, renderTargetArrayLength, setRenderTargetArrayLength)
PROPERTY(RenderPassDescriptor, renderTargetHeight, setRenderTargetHeight)
PROPERTY(RenderPassDescriptor, renderTargetWidth, setRenderTargetWidth)
READ_PROPERTY(RenderPassDescriptor, sampleBufferAttachments)
PROPERTY(RenderPassDescriptor, stencilAttachment, setStencilAttachment)
PROPERTY(RenderPassDescriptor, supportColorAttachmentMapping, setSupportColorAttachmentMapping)
PROPERTY(RenderPassDescriptor, threadgroupMemoryLength, setThreadgroupMemoryLength)
PROPERTY(RenderPassDescriptor, tileHeight, setTileHeight)
PROPERTY(RenderPassDescriptor, tileWidth, setTileWidth)
PROPERTY(RenderPassDescriptor, visibilityResultBuffer, setVisibilityResultBuffer)
PROPERTY(RenderPassDescriptor, visibilityResultType, setVisibilityResultType)

void RenderPassDescriptor::setSamplePositions(const SamplePosition* positions, NS::UInteger count) {
  auto* self = properties(this);
  if (self) self->sample_positions.assign(positions, positions + (positions ? count : 0));
}

NS::UInteger RenderPassDescriptor::getSamplePositions(SamplePosition* positions, NS::UInteger count) {
  const auto* self = properties(this);
  if (!self) return 0;
  if (positions) std::copy_n(self->sample_positions.begin(), std::min(count, self->sample_positions.size()), positions);
  return self->sample_positions.size();
}

// A command buffer that was to draw has failed: it would leave its targets as they are.
RenderCommandEncoder* CommandBuffer::renderCommandEncoder(const RenderPassDescriptor*) {
  if (auto* self = body(this)) self->fail(CommandBufferErrorInvalidResource, refuse("drawing"));
  return nullptr;
}

ParallelRenderCommandEncoder* CommandBuffer::parallelRenderCommandEncoder(const RenderPassDescriptor*) {
  if (auto* self = body(this)) self->fail(CommandBufferErrorInvalidResource, refuse("drawing"));
  return nullptr;
}

}  // namespace MTL
