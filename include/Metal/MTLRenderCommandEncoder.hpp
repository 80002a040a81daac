// Commands that draw.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLArgument.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLRenderPass.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class AccelerationStructure;
class Buffer;
class CounterSampleBuffer;
class DepthStencilState;
class Fence;
class Heap;
class IndirectCommandBuffer;
class IntersectionFunctionTable;
class LogicalToPhysicalColorAttachmentMap;
class RenderPipelineState;
class SamplerState;
class VisibleFunctionTable;

_MTL_ENUM(NS::UInteger, PrimitiveType){
    PrimitiveTypePoint = 0,    PrimitiveTypeLine = 1,          PrimitiveTypeLineStrip = 2,
    PrimitiveTypeTriangle = 3, PrimitiveTypeTriangleStrip = 4,
};

_MTL_ENUM(NS::UInteger, VisibilityResultMode){
    VisibilityResultModeDisabled = 0,
    VisibilityResultModeBoolean = 1,
    VisibilityResultModeCounting = 2,
};

_MTL_ENUM(NS::UInteger, CullMode){
    CullModeNone = 0,
    CullModeFront = 1,
    CullModeBack = 2,
};

_MTL_ENUM(NS::UInteger, Winding){
    WindingClockwise = 0,
    WindingCounterClockwise = 1,
};

_MTL_ENUM(NS::UInteger, DepthClipMode){
    DepthClipModeClip = 0,
    DepthClipModeClamp = 1,
};

_MTL_ENUM(NS::UInteger, TriangleFillMode){
    TriangleFillModeFill = 0,
    TriangleFillModeLines = 1,
};

_MTL_OPTIONS(NS::UInteger, RenderStages){
    RenderStageVertex = 1,      RenderStageFragment = 1 << 1, RenderStageTile = 1 << 2,
    RenderStageObject = 1 << 3, RenderStageMesh = 1 << 4,
};

struct ScissorRect {
  NS::UInteger x;
  NS::UInteger y;
  NS::UInteger width;
  NS::UInteger height;
};

struct Viewport {
  double originX;
  double originY;
  double width;
  double height;
  double znear;
  double zfar;
};

struct DrawPrimitivesIndirectArguments {
  uint32_t vertexCount;
  uint32_t instanceCount;
  uint32_t vertexStart;
  uint32_t baseInstance;
};

struct DrawIndexedPrimitivesIndirectArguments {
  uint32_t indexCount;
  uint32_t instanceCount;
  uint32_t indexStart;
  int32_t baseVertex;
  uint32_t baseInstance;
};

struct VertexAmplificationViewMapping {
  uint32_t viewportArrayIndexOffset;
  uint32_t renderTargetArrayIndexOffset;
};

struct DrawPatchIndirectArguments {
  uint32_t patchCount;
  uint32_t instanceCount;
  uint32_t patchStart;
  uint32_t baseInstance;
};

struct QuadTessellationFactorsHalf {
  uint16_t edgeTessellationFactor[4];
  uint16_t insideTessellationFactor[2];
};

struct TriangleTessellationFactorsHalf {
  uint16_t edgeTessellationFactor[3];
  uint16_t insideTessellationFactor;
};

class _MTL_EXPORT RenderCommandEncoder : public NS::Referencing<RenderCommandEncoder, CommandEncoder> {
 public:
  NS::UInteger tileHeight() const;
  NS::UInteger tileWidth() const;

  void setRenderPipelineState(const RenderPipelineState* pipelineState);
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger offset, NS::UInteger index);

  void setVertexAccelerationStructure(const AccelerationStructure* accelerationStructure, NS::UInteger bufferIndex);
  void setVertexAmplificationCount(NS::UInteger count, const VertexAmplificationViewMapping* viewMappings);
  void setVertexBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setVertexBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setVertexBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setVertexBufferOffset(NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setVertexBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);
  void setVertexBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, const NS::UInteger* strides,
                        NS::Range range);
  void setVertexBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setVertexBytes(const void* bytes, NS::UInteger length, NS::UInteger stride, NS::UInteger index);
  void setVertexIntersectionFunctionTable(const IntersectionFunctionTable* intersectionFunctionTable,
                                          NS::UInteger bufferIndex);
  void setVertexIntersectionFunctionTables(const IntersectionFunctionTable* const intersectionFunctionTables[],
                                           NS::Range range);
  void setVertexSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setVertexSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setVertexSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setVertexSamplerStates(const SamplerState* const samplers[], const float lodMinClamps[],
                              const float lodMaxClamps[], NS::Range range);
  void setVertexTexture(const Texture* texture, NS::UInteger index);
  void setVertexTextures(const Texture* const textures[], NS::Range range);
  void setVertexVisibleFunctionTable(const VisibleFunctionTable* functionTable, NS::UInteger bufferIndex);
  void setVertexVisibleFunctionTables(const VisibleFunctionTable* const functionTables[], NS::Range range);

  void setFragmentAccelerationStructure(const AccelerationStructure* accelerationStructure, NS::UInteger bufferIndex);
  void setFragmentBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setFragmentBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setFragmentBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);
  void setFragmentBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setFragmentIntersectionFunctionTable(const IntersectionFunctionTable* intersectionFunctionTable,
                                            NS::UInteger bufferIndex);
  void setFragmentIntersectionFunctionTables(const IntersectionFunctionTable* const intersectionFunctionTables[],
                                             NS::Range range);
  void setFragmentSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setFragmentSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setFragmentSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setFragmentSamplerStates(const SamplerState* const samplers[], const float lodMinClamps[],
                                const float lodMaxClamps[], NS::Range range);
  void setFragmentTexture(const Texture* texture, NS::UInteger index);
  void setFragmentTextures(const Texture* const textures[], NS::Range range);
  void setFragmentVisibleFunctionTable(const VisibleFunctionTable* functionTable, NS::UInteger bufferIndex);
  void setFragmentVisibleFunctionTables(const VisibleFunctionTable* const functionTables[], NS::Range range);

  void setTileAccelerationStructure(const AccelerationStructure* accelerationStructure, NS::UInteger bufferIndex);
  void setTileBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setTileBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setTileBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, NS::Range range);
  void setTileBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setTileIntersectionFunctionTable(const IntersectionFunctionTable* intersectionFunctionTable,
                                        NS::UInteger bufferIndex);
  void setTileIntersectionFunctionTables(const IntersectionFunctionTable* const intersectionFunctionTables[],
                                         NS::Range range);
  void setTileSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setTileSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setTileSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setTileSamplerStates(const SamplerState* const samplers[], const float lodMinClamps[],
                            const float lodMaxClamps[], NS::Range range);
  void setTileTexture(const Texture* texture, NS::UInteger index);
  void setTileTextures(const Texture* const textures[], NS::Range range);
  void setTileVisibleFunctionTable(const VisibleFunctionTable* functionTable, NS::UInteger bufferIndex);
  void setTileVisibleFunctionTables(const VisibleFunctionTable* const functionTables[], NS::Range range);

  void setObjectBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setObjectBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setObjectBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, NS::Range range);
  void setObjectBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setObjectSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setObjectSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setObjectSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setObjectSamplerStates(const SamplerState* const samplers[], const float* lodMinClamps,
                              const float* lodMaxClamps, NS::Range range);
  void setObjectTexture(const Texture* texture, NS::UInteger index);
  void setObjectTextures(const Texture* const textures[], NS::Range range);
  void setObjectThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);

  void setMeshBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setMeshBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setMeshBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, NS::Range range);
  void setMeshBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setMeshSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setMeshSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setMeshSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setMeshSamplerStates(const SamplerState* const samplers[], const float* lodMinClamps, const float* lodMaxClamps,
                            NS::Range range);
  void setMeshTexture(const Texture* texture, NS::UInteger index);
  void setMeshTextures(const Texture* const textures[], NS::Range range);

  void setBlendColor(float red, float green, float blue, float alpha);
  void setColorAttachmentMap(const LogicalToPhysicalColorAttachmentMap* mapping);
  void setColorStoreAction(StoreAction storeAction, NS::UInteger colorAttachmentIndex);
  void setColorStoreActionOptions(StoreActionOptions storeActionOptions, NS::UInteger colorAttachmentIndex);
  void setCullMode(CullMode cullMode);
  void setDepthBias(float depthBias, float slopeScale, float clamp);
  void setDepthClipMode(DepthClipMode depthClipMode);
  void setDepthStencilState(const DepthStencilState* depthStencilState);
  void setDepthStoreAction(StoreAction storeAction);
  void setDepthStoreActionOptions(StoreActionOptions storeActionOptions);
  void setDepthTestBounds(float minBound, float maxBound);
  void setFrontFacingWinding(Winding frontFacingWinding);
  void setScissorRect(ScissorRect rect);
  void setScissorRects(const ScissorRect* scissorRects, NS::UInteger count);
  void setStencilReferenceValue(uint32_t referenceValue);
  void setStencilReferenceValues(uint32_t frontReferenceValue, uint32_t backReferenceValue);
  void setStencilStoreAction(StoreAction storeAction);
  void setStencilStoreActionOptions(StoreActionOptions storeActionOptions);
  void setTessellationFactorBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger instanceStride);
  void setTessellationFactorScale(float scale);
  void setTriangleFillMode(TriangleFillMode fillMode);
  void setViewport(Viewport viewport);
  void setViewports(const Viewport* viewports, NS::UInteger count);
  void setVisibilityResultMode(VisibilityResultMode mode, NS::UInteger offset);

  void dispatchThreadsPerTile(Size threadsPerTile);

  void drawIndexedPatches(NS::UInteger numberOfPatchControlPoints, NS::UInteger patchStart, NS::UInteger patchCount,
                          const Buffer* patchIndexBuffer, NS::UInteger patchIndexBufferOffset,
                          const Buffer* controlPointIndexBuffer, NS::UInteger controlPointIndexBufferOffset,
                          NS::UInteger instanceCount, NS::UInteger baseInstance);
  void drawIndexedPatches(NS::UInteger numberOfPatchControlPoints, const Buffer* patchIndexBuffer,
                          NS::UInteger patchIndexBufferOffset, const Buffer* controlPointIndexBuffer,
                          NS::UInteger controlPointIndexBufferOffset, const Buffer* indirectBuffer,
                          NS::UInteger indirectBufferOffset);
  void drawIndexedPrimitives(PrimitiveType primitiveType, NS::UInteger indexCount, IndexType indexType,
                             const Buffer* indexBuffer, NS::UInteger indexBufferOffset, NS::UInteger instanceCount);
  void drawIndexedPrimitives(PrimitiveType primitiveType, NS::UInteger indexCount, IndexType indexType,
                             const Buffer* indexBuffer, NS::UInteger indexBufferOffset);
  void drawIndexedPrimitives(PrimitiveType primitiveType, NS::UInteger indexCount, IndexType indexType,
                             const Buffer* indexBuffer, NS::UInteger indexBufferOffset, NS::UInteger instanceCount,
                             NS::Integer baseVertex, NS::UInteger baseInstance);
  void drawIndexedPrimitives(PrimitiveType primitiveType, IndexType indexType, const Buffer* indexBuffer,
                             NS::UInteger indexBufferOffset, const Buffer* indirectBuffer,
                             NS::UInteger indirectBufferOffset);
  void drawMeshThreadgroups(Size threadgroupsPerGrid, Size threadsPerObjectThreadgroup, Size threadsPerMeshThreadgroup);
  void drawMeshThreadgroups(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset,
                            Size threadsPerObjectThreadgroup, Size threadsPerMeshThreadgroup);
  void drawMeshThreads(Size threadsPerGrid, Size threadsPerObjectThreadgroup, Size threadsPerMeshThreadgroup);
  void drawPatches(NS::UInteger numberOfPatchControlPoints, NS::UInteger patchStart, NS::UInteger patchCount,
                   const Buffer* patchIndexBuffer, NS::UInteger patchIndexBufferOffset, NS::UInteger instanceCount,
                   NS::UInteger baseInstance);
  void drawPatches(NS::UInteger numberOfPatchControlPoints, const Buffer* patchIndexBuffer,
                   NS::UInteger patchIndexBufferOffset, const Buffer* indirectBuffer,
                   NS::UInteger indirectBufferOffset);
  void drawPrimitives(PrimitiveType primitiveType, NS::UInteger vertexStart, NS::UInteger vertexCount,
                      NS::UInteger instanceCount);
  void drawPrimitives(PrimitiveType primitiveType, NS::UInteger vertexStart, NS::UInteger vertexCount);
  void drawPrimitives(PrimitiveType primitiveType, NS::UInteger vertexStart, NS::UInteger vertexCount,
                      NS::UInteger instanceCount, NS::UInteger baseInstance);
  void drawPrimitives(PrimitiveType primitiveType, const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset);

  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandBuffer, NS::Range executionRange);
  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandbuffer, const Buffer* indirectRangeBuffer,
                               NS::UInteger indirectBufferOffset);

  void useHeap(const Heap* heap);
  void useHeap(const Heap* heap, RenderStages stages);
  void useHeaps(const Heap* const heaps[], NS::UInteger count);
  void useHeaps(const Heap* const heaps[], NS::UInteger count, RenderStages stages);
  void useResource(const Resource* resource, ResourceUsage usage);
  void useResource(const Resource* resource, ResourceUsage usage, RenderStages stages);
  void useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage);
  void useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage, RenderStages stages);

  void memoryBarrier(BarrierScope scope, RenderStages after, RenderStages before);
  void memoryBarrier(const Resource* const resources[], NS::UInteger count, RenderStages after, RenderStages before);
  void textureBarrier();
  void waitForFence(const Fence* fence, RenderStages stages);
  void updateFence(const Fence* fence, RenderStages stages);

  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex, bool barrier);
};

}  // namespace MTL
