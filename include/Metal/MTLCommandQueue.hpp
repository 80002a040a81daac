// Command buffers wait in a queue and start in the order in which they were enqueued.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CommandBuffer;
class CommandBufferDescriptor;
class Device;
class LogState;
class ResidencySet;

class _MTL_EXPORT CommandQueue : public NS::Referencing<CommandQueue> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);

  CommandBuffer* commandBuffer();
  CommandBuffer* commandBuffer(const CommandBufferDescriptor* descriptor);
  CommandBuffer* commandBufferWithUnretainedReferences();

  void addResidencySet(const ResidencySet* residencySet);
  void addResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);
  void removeResidencySet(const ResidencySet* residencySet);
  void removeResidencySets(const ResidencySet* const residencySets[], NS::UInteger count);

  void insertDebugCaptureBoundary();
};

class _MTL_EXPORT CommandQueueDescriptor : public NS::Copying<CommandQueueDescriptor> {
 public:
  static CommandQueueDescriptor* alloc();
  CommandQueueDescriptor* init();

  LogState* logState() const;
  void setLogState(const LogState* logState);
  NS::UInteger maxCommandBufferCount() const;
  void setMaxCommandBufferCount(NS::UInteger maxCommandBufferCount);
};

}  // namespace MTL
