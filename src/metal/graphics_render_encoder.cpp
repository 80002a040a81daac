// Encoders of render commands, and what they draw on. None is ever made.
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLDrawable.hpp>
#include <Metal/MTLIndirectCommandEncoder.hpp>
#include <Metal/MTLParallelRenderCommandEncoder.hpp>
#include <Metal/MTLRenderCommandEncoder.hpp>
#include <Metal/MTLRenderPipeline.hpp>

#include "metal/absent.hpp"

namespace MTL {

using namespace metalloid::metal;

NEVER_SENT(NS::UInteger RenderCommandEncoder::tileHeight() const)
NEVER_SENT(NS::UInteger RenderCommandEncoder::tileWidth() const)
void RenderCommandEncoder::setRenderPipelineState(const RenderPipelineState*) {}
void RenderCommandEncoder::setThreadgroupMemoryLength(NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexAccelerationStructure(const AccelerationStructure*, NS::UInteger) {}
void RenderCommandEncoder::setVertexAmplificationCount(NS::UInteger, const VertexAmplificationViewMapping*) {}
void RenderCommandEncoder::setVertexBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexBuffer(const Buffer*, NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexBufferOffset(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexBufferOffset(NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void RenderCommandEncoder::setVertexBuffers(const Buffer* const*, const NS::UInteger*, const NS::UInteger*, NS::Range) {
}
void RenderCommandEncoder::setVertexBytes(const void*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexBytes(const void*, NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setVertexIntersectionFunctionTable(const IntersectionFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setVertexIntersectionFunctionTables(const IntersectionFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setVertexSamplerState(const SamplerState*, NS::UInteger) {}
void RenderCommandEncoder::setVertexSamplerState(const SamplerState*, float, float, NS::UInteger) {}
void RenderCommandEncoder::setVertexSamplerStates(const SamplerState* const*, NS::Range) {}
void RenderCommandEncoder::setVertexSamplerStates(const SamplerState* const*, const float*, const float*, NS::Range) {}
void RenderCommandEncoder::setVertexTexture(const Texture*, NS::UInteger) {}
void RenderCommandEncoder::setVertexTextures(const Texture* const*, NS::Range) {}
void RenderCommandEncoder::setVertexVisibleFunctionTable(const VisibleFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setVertexVisibleFunctionTables(const VisibleFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setFragmentAccelerationStructure(const AccelerationStructure*, NS::UInteger) {}
void RenderCommandEncoder::setFragmentBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setFragmentBufferOffset(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setFragmentBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void RenderCommandEncoder::setFragmentBytes(const void*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setFragmentIntersectionFunctionTable(const IntersectionFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setFragmentIntersectionFunctionTables(const IntersectionFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setFragmentSamplerState(const SamplerState*, NS::UInteger) {}
void RenderCommandEncoder::setFragmentSamplerState(const SamplerState*, float, float, NS::UInteger) {}
void RenderCommandEncoder::setFragmentSamplerStates(const SamplerState* const*, NS::Range) {}
void RenderCommandEncoder::setFragmentSamplerStates(const SamplerState* const*, const float*, const float*, NS::Range) {
}
void RenderCommandEncoder::setFragmentTexture(const Texture*, NS::UInteger) {}
void RenderCommandEncoder::setFragmentTextures(const Texture* const*, NS::Range) {}
void RenderCommandEncoder::setFragmentVisibleFunctionTable(const VisibleFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setFragmentVisibleFunctionTables(const VisibleFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setTileAccelerationStructure(const AccelerationStructure*, NS::UInteger) {}
void RenderCommandEncoder::setTileBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setTileBufferOffset(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setTileBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void RenderCommandEncoder::setTileBytes(const void*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setTileIntersectionFunctionTable(const IntersectionFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setTileIntersectionFunctionTables(const IntersectionFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setTileSamplerState(const SamplerState*, NS::UInteger) {}
void RenderCommandEncoder::setTileSamplerState(const SamplerState*, float, float, NS::UInteger) {}
void RenderCommandEncoder::setTileSamplerStates(const SamplerState* const*, NS::Range) {}
void RenderCommandEncoder::setTileSamplerStates(const SamplerState* const*, const float*, const float*, NS::Range) {}
void RenderCommandEncoder::setTileTexture(const Texture*, NS::UInteger) {}
void RenderCommandEncoder::setTileTextures(const Texture* const*, NS::Range) {}
void RenderCommandEncoder::setTileVisibleFunctionTable(const VisibleFunctionTable*, NS::UInteger) {}
void RenderCommandEncoder::setTileVisibleFunctionTables(const VisibleFunctionTable* const*, NS::Range) {}
void RenderCommandEncoder::setObjectBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setObjectBufferOffset(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setObjectBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void RenderCommandEncoder::setObjectBytes(const void*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setObjectSamplerState(const SamplerState*, NS::UInteger) {}
void RenderCommandEncoder::setObjectSamplerState(const SamplerState*, float, float, NS::UInteger) {}
void RenderCommandEncoder::setObjectSamplerStates(const SamplerState* const*, NS::Range) {}
void RenderCommandEncoder::setObjectSamplerStates(const SamplerState* const*, const float*, const float*, NS::Range) {}
void RenderCommandEncoder::setObjectTexture(const Texture*, NS::UInteger) {}
void RenderCommandEncoder::setObjectTextures(const Texture* const*, NS::Range) {}
void RenderCommandEncoder::setObjectThreadgroupMemoryLength(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setMeshBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setMeshBufferOffset(NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setMeshBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void RenderCommandEncoder::setMeshBytes(const void*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setMeshSamplerState(const SamplerState*, NS::UInteger) {}
void RenderCommandEncoder::setMeshSamplerState(const SamplerState*, float, float, NS::UInteger) {}
void RenderCommandEncoder::setMeshSamplerStates(const SamplerState* const*, NS::Range) {}
void RenderCommandEncoder::setMeshSamplerStates(const SamplerState* const*, const float*, const float*, NS::Range) {}
void RenderCommandEncoder::setMeshTexture(const Texture*, NS::UInteger) {}
void RenderCommandEncoder::setMeshTextures(const Texture* const*, NS::Range) {}
void RenderCommandEncoder::setBlendColor(float, float, float, float) {}
void RenderCommandEncoder::setColorAttachmentMap(const LogicalToPhysicalColorAttachmentMap*) {}
void RenderCommandEncoder::setColorStoreAction(StoreAction, NS::UInteger) {}
void RenderCommandEncoder::setColorStoreActionOptions(StoreActionOptions, NS::UInteger) {}
void RenderCommandEncoder::setCullMode(CullMode) {}
void RenderCommandEncoder::setDepthBias(float, float, float) {}
void RenderCommandEncoder::setDepthClipMode(DepthClipMode) {}
void RenderCommandEncoder::setDepthStencilState(const DepthStencilState*) {}
void RenderCommandEncoder::setDepthStoreAction(StoreAction) {}
void RenderCommandEncoder::setDepthStoreActionOptions(StoreActionOptions) {}
void RenderCommandEncoder::setDepthTestBounds(float, float) {}
void RenderCommandEncoder::setFrontFacingWinding(Winding) {}
void RenderCommandEncoder::setScissorRect(ScissorRect) {}
void RenderCommandEncoder::setScissorRects(const ScissorRect*, NS::UInteger) {}
void RenderCommandEncoder::setStencilReferenceValue(uint32_t) {}
void RenderCommandEncoder::setStencilReferenceValues(uint32_t, uint32_t) {}
void RenderCommandEncoder::setStencilStoreAction(StoreAction) {}
void RenderCommandEncoder::setStencilStoreActionOptions(StoreActionOptions) {}
void RenderCommandEncoder::setTessellationFactorBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::setTessellationFactorScale(float) {}
void RenderCommandEncoder::setTriangleFillMode(TriangleFillMode) {}
void RenderCommandEncoder::setViewport(Viewport) {}
void RenderCommandEncoder::setViewports(const Viewport*, NS::UInteger) {}
void RenderCommandEncoder::setVisibilityResultMode(VisibilityResultMode, NS::UInteger) {}
void RenderCommandEncoder::dispatchThreadsPerTile(Size) {}
void RenderCommandEncoder::drawIndexedPatches(NS::UInteger, NS::UInteger, NS::UInteger, const Buffer*, NS::UInteger,
                                              const Buffer*, NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::drawIndexedPatches(NS::UInteger, const Buffer*, NS::UInteger, const Buffer*, NS::UInteger,
                                              const Buffer*, NS::UInteger) {}
void RenderCommandEncoder::drawIndexedPrimitives(PrimitiveType, NS::UInteger, IndexType, const Buffer*, NS::UInteger,
                                                 NS::UInteger) {}
void RenderCommandEncoder::drawIndexedPrimitives(PrimitiveType, NS::UInteger, IndexType, const Buffer*, NS::UInteger) {}
void RenderCommandEncoder::drawIndexedPrimitives(PrimitiveType, NS::UInteger, IndexType, const Buffer*, NS::UInteger,
                                                 NS::UInteger, NS::Integer, NS::UInteger) {}
void RenderCommandEncoder::drawIndexedPrimitives(PrimitiveType, IndexType, const Buffer*, NS::UInteger, const Buffer*,
                                                 NS::UInteger) {}
void RenderCommandEncoder::drawMeshThreadgroups(Size, Size, Size) {}
void RenderCommandEncoder::drawMeshThreadgroups(const Buffer*, NS::UInteger, Size, Size) {}
void RenderCommandEncoder::drawMeshThreads(Size, Size, Size) {}
void RenderCommandEncoder::drawPatches(NS::UInteger, NS::UInteger, NS::UInteger, const Buffer*, NS::UInteger,
                                       NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::drawPatches(NS::UInteger, const Buffer*, NS::UInteger, const Buffer*, NS::UInteger) {}
void RenderCommandEncoder::drawPrimitives(PrimitiveType, NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::drawPrimitives(PrimitiveType, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::drawPrimitives(PrimitiveType, NS::UInteger, NS::UInteger, NS::UInteger, NS::UInteger) {}
void RenderCommandEncoder::drawPrimitives(PrimitiveType, const Buffer*, NS::UInteger) {}
void RenderCommandEncoder::executeCommandsInBuffer(const IndirectCommandBuffer*, NS::Range) {}
void RenderCommandEncoder::executeCommandsInBuffer(const IndirectCommandBuffer*, const Buffer*, NS::UInteger) {}
void RenderCommandEncoder::useHeap(const Heap*) {}
void RenderCommandEncoder::useHeap(const Heap*, RenderStages) {}
void RenderCommandEncoder::useHeaps(const Heap* const*, NS::UInteger) {}
void RenderCommandEncoder::useHeaps(const Heap* const*, NS::UInteger, RenderStages) {}
void RenderCommandEncoder::useResource(const Resource*, ResourceUsage) {}
void RenderCommandEncoder::useResource(const Resource*, ResourceUsage, RenderStages) {}
void RenderCommandEncoder::useResources(const Resource* const*, NS::UInteger, ResourceUsage) {}
void RenderCommandEncoder::useResources(const Resource* const*, NS::UInteger, ResourceUsage, RenderStages) {}
void RenderCommandEncoder::memoryBarrier(BarrierScope, RenderStages, RenderStages) {}
void RenderCommandEncoder::memoryBarrier(const Resource* const*, NS::UInteger, RenderStages, RenderStages) {}
void RenderCommandEncoder::textureBarrier() {}
void RenderCommandEncoder::waitForFence(const Fence*, RenderStages) {}
void RenderCommandEncoder::updateFence(const Fence*, RenderStages) {}
void RenderCommandEncoder::sampleCountersInBuffer(const CounterSampleBuffer*, NS::UInteger, bool) {}

void ParallelRenderCommandEncoder::setColorStoreAction(StoreAction, NS::UInteger) {}
void ParallelRenderCommandEncoder::setColorStoreActionOptions(StoreActionOptions, NS::UInteger) {}
void ParallelRenderCommandEncoder::setDepthStoreAction(StoreAction) {}
void ParallelRenderCommandEncoder::setDepthStoreActionOptions(StoreActionOptions) {}
void ParallelRenderCommandEncoder::setStencilStoreAction(StoreAction) {}
void ParallelRenderCommandEncoder::setStencilStoreActionOptions(StoreActionOptions) {}
NEVER_SENT(RenderCommandEncoder* ParallelRenderCommandEncoder::renderCommandEncoder())

void IndirectRenderCommand::setRenderPipelineState(const RenderPipelineState*) {}
void IndirectRenderCommand::setVertexBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setVertexBuffer(const Buffer*, NS::UInteger, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setFragmentBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setObjectBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setObjectThreadgroupMemoryLength(NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setMeshBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::setBarrier() {}
void IndirectRenderCommand::setCullMode(CullMode) {}
void IndirectRenderCommand::setDepthBias(float, float, float) {}
void IndirectRenderCommand::setDepthClipMode(DepthClipMode) {}
void IndirectRenderCommand::setDepthStencilState(const DepthStencilState*) {}
void IndirectRenderCommand::setFrontFacingWinding(Winding) {}
void IndirectRenderCommand::setTriangleFillMode(TriangleFillMode) {}
void IndirectRenderCommand::drawIndexedPatches(NS::UInteger, NS::UInteger, NS::UInteger, const Buffer*, NS::UInteger,
                                               const Buffer*, NS::UInteger, NS::UInteger, NS::UInteger, const Buffer*,
                                               NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::drawIndexedPrimitives(PrimitiveType, NS::UInteger, IndexType, const Buffer*, NS::UInteger,
                                                  NS::UInteger, NS::Integer, NS::UInteger) {}
void IndirectRenderCommand::drawMeshThreadgroups(Size, Size, Size) {}
void IndirectRenderCommand::drawMeshThreads(Size, Size, Size) {}
void IndirectRenderCommand::drawPatches(NS::UInteger, NS::UInteger, NS::UInteger, const Buffer*, NS::UInteger,
                                        NS::UInteger, NS::UInteger, const Buffer*, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::drawPrimitives(PrimitiveType, NS::UInteger, NS::UInteger, NS::UInteger, NS::UInteger) {}
void IndirectRenderCommand::reset() {}
void IndirectRenderCommand::clearBarrier() {}

NEVER_SENT(NS::UInteger Drawable::drawableID() const)
NEVER_SENT(CFTimeInterval Drawable::presentedTime() const)
void Drawable::present() {}
void Drawable::presentAfterMinimumDuration(CFTimeInterval) {}
void Drawable::presentAtTime(CFTimeInterval) {}
void Drawable::addPresentedHandler(const DrawablePresentedHandlerFunction&) {}

}  // namespace MTL
