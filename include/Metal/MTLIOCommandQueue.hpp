// The queue of loading commands, its scratch memory, and the files they load from.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Buffer;
class IOCommandBuffer;

_MTL_ENUM(NS::Integer, IOPriority){
    IOPriorityHigh = 0,
    IOPriorityNormal = 1,
    IOPriorityLow = 2,
};

_MTL_ENUM(NS::Integer, IOCommandQueueType){
    IOCommandQueueTypeConcurrent = 0,
    IOCommandQueueTypeSerial = 1,
};

_MTL_ENUM(NS::Integer, IOError){
    IOErrorURLInvalid = 1,
    IOErrorInternal = 2,
};

_MTL_CONST(NS::ErrorDomain, IOErrorDomain);

class _MTL_EXPORT IOCommandQueue : public NS::Referencing<IOCommandQueue> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  IOCommandBuffer* commandBuffer();
  IOCommandBuffer* commandBufferWithUnretainedReferences();
  void enqueueBarrier();
};

class _MTL_EXPORT IOScratchBuffer : public NS::Referencing<IOScratchBuffer> {
 public:
  Buffer* buffer() const;
};

class _MTL_EXPORT IOScratchBufferAllocator : public NS::Referencing<IOScratchBufferAllocator> {
 public:
  IOScratchBuffer* newScratchBuffer(NS::UInteger minimumSize);
};

class _MTL_EXPORT IOCommandQueueDescriptor : public NS::Copying<IOCommandQueueDescriptor> {
 public:
  static IOCommandQueueDescriptor* alloc();
  IOCommandQueueDescriptor* init();

  NS::UInteger maxCommandBufferCount() const;
  void setMaxCommandBufferCount(NS::UInteger maxCommandBufferCount);
  NS::UInteger maxCommandsInFlight() const;
  void setMaxCommandsInFlight(NS::UInteger maxCommandsInFlight);
  IOPriority priority() const;
  void setPriority(IOPriority priority);
  IOScratchBufferAllocator* scratchBufferAllocator() const;
  void setScratchBufferAllocator(const IOScratchBufferAllocator* scratchBufferAllocator);
  IOCommandQueueType type() const;
  void setType(IOCommandQueueType type);
};

class _MTL_EXPORT IOFileHandle : public NS::Referencing<IOFileHandle> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
};

}  // namespace MTL
