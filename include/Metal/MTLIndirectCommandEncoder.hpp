// One command of an indirect command buffer.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLArgument.hpp"
#include "MTLDefines.hpp"
#include "MTLRenderCommandEncoder.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class ComputePipelineState;
class DepthStencilState;
class RenderPipelineState;

class _MTL_EXPORT IndirectRenderCommand : public NS::Referencing<IndirectRenderCommand> {
 public:
  void setRenderPipelineState(const RenderPipelineState* pipelineState);
  void setVertexBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setVertexBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setFragmentBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);

  void setObjectBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setObjectThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);
  void setMeshBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);

  void setBarrier();
  void setCullMode(CullMode cullMode);
  void setDepthBias(float depthBias, float slopeScale, float clamp);
  void setDepthClipMode(DepthClipMode depthClipMode);
  void setDepthStencilState(const DepthStencilState* depthStencilState);
  void setFrontFacingWinding(Winding frontFacingWindning);
  void setTriangleFillMode(TriangleFillMode fillMode);

  void drawIndexedPatches(NS::UInteger numberOfPatchControlPoints, NS::UInteger patchStart, NS::UInteger patchCount,
                          const Buffer* patchIndexBuffer, NS::UInteger patchIndexBufferOffset,
                          const Buffer* controlPointIndexBuffer, NS::UInteger controlPointIndexBufferOffset,
                          NS::UInteger instanceCount, NS::UInteger baseInstance, const Buffer* buffer,
                          NS::UInteger offset, NS::UInteger instanceStride);
  void drawIndexedPrimitives(PrimitiveType primitiveType, NS::UInteger indexCount, IndexType indexType,
                             const Buffer* indexBuffer, NS::UInteger indexBufferOffset, NS::UInteger instanceCount,
                             NS::Integer baseVertex, NS::UInteger baseInstance);
  void drawMeshThreadgroups(Size threadgroupsPerGrid, Size threadsPerObjectThreadgroup, Size threadsPerMeshThreadgroup);
  void drawMeshThreads(Size threadsPerGrid, Size threadsPerObjectThreadgroup, Size threadsPerMeshThreadgroup);
  void drawPatches(NS::UInteger numberOfPatchControlPoints, NS::UInteger patchStart, NS::UInteger patchCount,
                   const Buffer* patchIndexBuffer, NS::UInteger patchIndexBufferOffset, NS::UInteger instanceCount,
                   NS::UInteger baseInstance, const Buffer* buffer, NS::UInteger offset, NS::UInteger instanceStride);
  void drawPrimitives(PrimitiveType primitiveType, NS::UInteger vertexStart, NS::UInteger vertexCount,
                      NS::UInteger instanceCount, NS::UInteger baseInstance);

  void reset();
  void clearBarrier();
};

class _MTL_EXPORT IndirectComputeCommand : public NS::Referencing<IndirectComputeCommand> {
 public:
  void setComputePipelineState(const ComputePipelineState* pipelineState);
  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);
  void setImageblockWidth(NS::UInteger width, NS::UInteger height);
  void setStageInRegion(Region region);

  void setBarrier();
  void setKernelBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setKernelBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger stride, NS::UInteger index);

  void concurrentDispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup);
  void concurrentDispatchThreads(Size threadsPerGrid, Size threadsPerThreadgroup);
  void reset();
  void clearBarrier();
};

}  // namespace MTL
