// Commands that are encoded once, by the CPU or by a kernel, and executed many times.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLResource.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class IndirectComputeCommand;
class IndirectRenderCommand;

_MTL_OPTIONS(NS::UInteger, IndirectCommandType){
    IndirectCommandTypeDraw = 1,
    IndirectCommandTypeDrawIndexed = 1 << 1,
    IndirectCommandTypeDrawPatches = 1 << 2,
    IndirectCommandTypeDrawIndexedPatches = 1 << 3,
    IndirectCommandTypeConcurrentDispatch = 1 << 5,
    IndirectCommandTypeConcurrentDispatchThreads = 1 << 6,
    IndirectCommandTypeDrawMeshThreadgroups = 1 << 7,
    IndirectCommandTypeDrawMeshThreads = 1 << 8,
};

struct IndirectCommandBufferExecutionRange {
  uint32_t location;
  uint32_t length;
};

class _MTL_EXPORT IndirectCommandBufferDescriptor : public NS::Copying<IndirectCommandBufferDescriptor> {
 public:
  static IndirectCommandBufferDescriptor* alloc();
  IndirectCommandBufferDescriptor* init();

  IndirectCommandType commandTypes() const;
  void setCommandTypes(IndirectCommandType commandTypes);
  bool inheritBuffers() const;
  void setInheritBuffers(bool inheritBuffers);
  bool inheritCullMode() const;
  void setInheritCullMode(bool inheritCullMode);
  bool inheritDepthBias() const;
  void setInheritDepthBias(bool inheritDepthBias);
  bool inheritDepthClipMode() const;
  void setInheritDepthClipMode(bool inheritDepthClipMode);
  bool inheritDepthStencilState() const;
  void setInheritDepthStencilState(bool inheritDepthStencilState);
  bool inheritFrontFacingWinding() const;
  void setInheritFrontFacingWinding(bool inheritFrontFacingWinding);
  bool inheritPipelineState() const;
  void setInheritPipelineState(bool inheritPipelineState);
  bool inheritTriangleFillMode() const;
  void setInheritTriangleFillMode(bool inheritTriangleFillMode);
  NS::UInteger maxFragmentBufferBindCount() const;
  void setMaxFragmentBufferBindCount(NS::UInteger maxFragmentBufferBindCount);
  NS::UInteger maxKernelBufferBindCount() const;
  void setMaxKernelBufferBindCount(NS::UInteger maxKernelBufferBindCount);
  NS::UInteger maxKernelThreadgroupMemoryBindCount() const;
  void setMaxKernelThreadgroupMemoryBindCount(NS::UInteger maxKernelThreadgroupMemoryBindCount);
  NS::UInteger maxMeshBufferBindCount() const;
  void setMaxMeshBufferBindCount(NS::UInteger maxMeshBufferBindCount);
  NS::UInteger maxObjectBufferBindCount() const;
  void setMaxObjectBufferBindCount(NS::UInteger maxObjectBufferBindCount);
  NS::UInteger maxObjectThreadgroupMemoryBindCount() const;
  void setMaxObjectThreadgroupMemoryBindCount(NS::UInteger maxObjectThreadgroupMemoryBindCount);
  NS::UInteger maxVertexBufferBindCount() const;
  void setMaxVertexBufferBindCount(NS::UInteger maxVertexBufferBindCount);
  bool supportColorAttachmentMapping() const;
  void setSupportColorAttachmentMapping(bool supportColorAttachmentMapping);
  bool supportDynamicAttributeStride() const;
  void setSupportDynamicAttributeStride(bool supportDynamicAttributeStride);
  bool supportRayTracing() const;
  void setSupportRayTracing(bool supportRayTracing);
};

class _MTL_EXPORT IndirectCommandBuffer : public NS::Referencing<IndirectCommandBuffer, Resource> {
 public:
  ResourceID gpuResourceID() const;
  NS::UInteger size() const;
  void reset(NS::Range range);
  IndirectComputeCommand* indirectComputeCommand(NS::UInteger commandIndex);
  IndirectRenderCommand* indirectRenderCommand(NS::UInteger commandIndex);
};

}  // namespace MTL
