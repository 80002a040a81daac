// Writes resources into an argument buffer with the layout that the shader expects. A shader for Metal 3 needs none:
// its argument buffers are plain structures of addresses and resource ids.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class AccelerationStructure;
class Buffer;
class ComputePipelineState;
class DepthStencilState;
class Device;
class IndirectCommandBuffer;
class IntersectionFunctionTable;
class RenderPipelineState;
class SamplerState;
class Texture;
class VisibleFunctionTable;

inline constexpr NS::UInteger AttributeStrideStatic = NS::UIntegerMax;

class _MTL_EXPORT ArgumentEncoder : public NS::Referencing<ArgumentEncoder> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger alignment() const;
  NS::UInteger encodedLength() const;

  ArgumentEncoder* newArgumentEncoder(NS::UInteger index);

  void setComputePipelineState(const ComputePipelineState* pipeline, NS::UInteger index);
  void setComputePipelineStates(const ComputePipelineState* const pipelines[], NS::Range range);
  void setRenderPipelineState(const RenderPipelineState* pipeline, NS::UInteger index);
  void setRenderPipelineStates(const RenderPipelineState* const pipelines[], NS::Range range);

  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);

  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);

  void setAccelerationStructure(const AccelerationStructure* accelerationStructure, NS::UInteger index);
  void setIntersectionFunctionTable(const IntersectionFunctionTable* intersectionFunctionTable, NS::UInteger index);
  void setIntersectionFunctionTables(const IntersectionFunctionTable* const intersectionFunctionTables[],
                                     NS::Range range);
  void setVisibleFunctionTable(const VisibleFunctionTable* visibleFunctionTable, NS::UInteger index);
  void setVisibleFunctionTables(const VisibleFunctionTable* const visibleFunctionTables[], NS::Range range);

  void setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger offset);
  void setArgumentBuffer(const Buffer* argumentBuffer, NS::UInteger startOffset, NS::UInteger arrayElement);
  void setDepthStencilState(const DepthStencilState* depthStencilState, NS::UInteger index);
  void setDepthStencilStates(const DepthStencilState* const depthStencilStates[], NS::Range range);
  void setIndirectCommandBuffer(const IndirectCommandBuffer* indirectCommandBuffer, NS::UInteger index);
  void setIndirectCommandBuffers(const IndirectCommandBuffer* const buffers[], NS::Range range);

  void* constantData(NS::UInteger index);
};

}  // namespace MTL
