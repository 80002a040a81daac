// Commands that run kernels: choose a pipeline, bind its arguments, dispatch a grid of threads.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLCommandBuffer.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class AccelerationStructure;
class Buffer;
class ComputePipelineState;
class CounterSampleBuffer;
class Fence;
class Heap;
class IndirectCommandBuffer;
class IntersectionFunctionTable;
class Resource;
class SamplerState;
class Texture;
class VisibleFunctionTable;

struct DispatchThreadgroupsIndirectArguments {
  uint32_t threadgroupsPerGrid[3];
};

struct DispatchThreadsIndirectArguments {
  uint32_t threadsPerGrid[3];
  uint32_t threadsPerThreadgroup[3];
};

struct StageInRegionIndirectArguments {
  uint32_t stageInOrigin[3];
  uint32_t stageInSize[3];
};

class _MTL_EXPORT ComputeCommandEncoder : public NS::Referencing<ComputeCommandEncoder, CommandEncoder> {
 public:
  DispatchType dispatchType() const;

  void setComputePipelineState(const ComputePipelineState* state);

  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger index);
  void setBytes(const void* bytes, NS::UInteger length, NS::UInteger stride, NS::UInteger index);
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger index);
  void setBuffer(const Buffer* buffer, NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setBufferOffset(NS::UInteger offset, NS::UInteger index);
  void setBufferOffset(NS::UInteger offset, NS::UInteger stride, NS::UInteger index);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger offsets[], NS::Range range);
  void setBuffers(const Buffer* const buffers[], const NS::UInteger* offsets, const NS::UInteger* strides,
                  NS::Range range);

  void setTexture(const Texture* texture, NS::UInteger index);
  void setTextures(const Texture* const textures[], NS::Range range);
  void setSamplerState(const SamplerState* sampler, NS::UInteger index);
  void setSamplerState(const SamplerState* sampler, float lodMinClamp, float lodMaxClamp, NS::UInteger index);
  void setSamplerStates(const SamplerState* const samplers[], NS::Range range);
  void setSamplerStates(const SamplerState* const samplers[], const float lodMinClamps[], const float lodMaxClamps[],
                        NS::Range range);

  void setThreadgroupMemoryLength(NS::UInteger length, NS::UInteger index);
  void setImageblockWidth(NS::UInteger width, NS::UInteger height);
  void setStageInRegion(Region region);
  void setStageInRegion(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset);

  void setAccelerationStructure(const AccelerationStructure* accelerationStructure, NS::UInteger bufferIndex);
  void setIntersectionFunctionTable(const IntersectionFunctionTable* intersectionFunctionTable,
                                    NS::UInteger bufferIndex);
  void setIntersectionFunctionTables(const IntersectionFunctionTable* const intersectionFunctionTables[],
                                     NS::Range range);
  void setVisibleFunctionTable(const VisibleFunctionTable* visibleFunctionTable, NS::UInteger bufferIndex);
  void setVisibleFunctionTables(const VisibleFunctionTable* const visibleFunctionTables[], NS::Range range);

  void dispatchThreads(Size threadsPerGrid, Size threadsPerThreadgroup);
  void dispatchThreadgroups(Size threadgroupsPerGrid, Size threadsPerThreadgroup);
  void dispatchThreadgroups(const Buffer* indirectBuffer, NS::UInteger indirectBufferOffset,
                            Size threadsPerThreadgroup);

  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandBuffer, NS::Range executionRange);
  void executeCommandsInBuffer(const IndirectCommandBuffer* indirectCommandbuffer, const Buffer* indirectRangeBuffer,
                               NS::UInteger indirectBufferOffset);

  void useHeap(const Heap* heap);
  void useHeaps(const Heap* const heaps[], NS::UInteger count);
  void useResource(const Resource* resource, ResourceUsage usage);
  void useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage);

  void memoryBarrier(BarrierScope scope);
  void memoryBarrier(const Resource* const resources[], NS::UInteger count);
  void waitForFence(const Fence* fence);
  void updateFence(const Fence* fence);

  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex, bool barrier);
};

}  // namespace MTL
