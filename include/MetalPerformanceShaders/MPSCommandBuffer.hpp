// A command buffer that can be committed while its work is still being encoded: commitAndContinue() sends off what is
// there and goes on with a fresh one of the same queue.
#pragma once

#include "MPSCoreTypes.hpp"

namespace MPS {

class _MPS_EXPORT CommandBuffer : public NS::Referencing<CommandBuffer> {
 public:
  static CommandBuffer* commandBuffer(MTL::CommandBuffer* commandBuffer);
  static CommandBuffer* commandBufferFromCommandQueue(MTL::CommandQueue* commandQueue);
  static CommandBuffer* alloc();
  CommandBuffer* init(MTL::CommandBuffer* commandBuffer);

  // The one that is encoded into now: what kernels' encode() takes.
  MTL::CommandBuffer* commandBuffer() const;
  MTL::CommandBuffer* rootCommandBuffer() const;

  void commitAndContinue();
  void commit();
  void waitUntilCompleted();
  // Memory is pooled: there is nothing to prepare.
  void prefetchHeapForWorkloadSize(size_t size);
};

}  // namespace MPS
