// Commands that build, refit, copy and compact acceleration structures, and the pass they belong to.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLAccelerationStructure.hpp"
#include "MTLCommandEncoder.hpp"
#include "MTLDataType.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class Buffer;
class CounterSampleBuffer;
class Fence;
class Heap;

class _MTL_EXPORT AccelerationStructureCommandEncoder
    : public NS::Referencing<AccelerationStructureCommandEncoder, CommandEncoder> {
 public:
  void copyAccelerationStructure(const AccelerationStructure* sourceAccelerationStructure,
                                 const AccelerationStructure* destinationAccelerationStructure);
  void copyAndCompactAccelerationStructure(const AccelerationStructure* sourceAccelerationStructure,
                                           const AccelerationStructure* destinationAccelerationStructure);

  void useHeap(const Heap* heap);
  void useHeaps(const Heap* const heaps[], NS::UInteger count);
  void useResource(const Resource* resource, ResourceUsage usage);
  void useResources(const Resource* const resources[], NS::UInteger count, ResourceUsage usage);

  void waitForFence(const Fence* fence);
  void updateFence(const Fence* fence);
  void sampleCountersInBuffer(const CounterSampleBuffer* sampleBuffer, NS::UInteger sampleIndex, bool barrier);

  void buildAccelerationStructure(const AccelerationStructure* accelerationStructure,
                                  const AccelerationStructureDescriptor* descriptor, const Buffer* scratchBuffer,
                                  NS::UInteger scratchBufferOffset);
  void refitAccelerationStructure(const AccelerationStructure* sourceAccelerationStructure,
                                  const AccelerationStructureDescriptor* descriptor,
                                  const AccelerationStructure* destinationAccelerationStructure,
                                  const Buffer* scratchBuffer, NS::UInteger scratchBufferOffset);
  void refitAccelerationStructure(const AccelerationStructure* sourceAccelerationStructure,
                                  const AccelerationStructureDescriptor* descriptor,
                                  const AccelerationStructure* destinationAccelerationStructure,
                                  const Buffer* scratchBuffer, NS::UInteger scratchBufferOffset,
                                  AccelerationStructureRefitOptions options);
  void writeCompactedAccelerationStructureSize(const AccelerationStructure* accelerationStructure, const Buffer* buffer,
                                               NS::UInteger offset);
  void writeCompactedAccelerationStructureSize(const AccelerationStructure* accelerationStructure, const Buffer* buffer,
                                               NS::UInteger offset, DataType sizeDataType);
};

class _MTL_EXPORT AccelerationStructurePassSampleBufferAttachmentDescriptor
    : public NS::Copying<AccelerationStructurePassSampleBufferAttachmentDescriptor> {
 public:
  static AccelerationStructurePassSampleBufferAttachmentDescriptor* alloc();
  AccelerationStructurePassSampleBufferAttachmentDescriptor* init();

  NS::UInteger endOfEncoderSampleIndex() const;
  void setEndOfEncoderSampleIndex(NS::UInteger endOfEncoderSampleIndex);
  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);
  NS::UInteger startOfEncoderSampleIndex() const;
  void setStartOfEncoderSampleIndex(NS::UInteger startOfEncoderSampleIndex);
};

class _MTL_EXPORT AccelerationStructurePassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<AccelerationStructurePassSampleBufferAttachmentDescriptorArray> {
 public:
  static AccelerationStructurePassSampleBufferAttachmentDescriptorArray* alloc();
  AccelerationStructurePassSampleBufferAttachmentDescriptorArray* init();

  AccelerationStructurePassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const AccelerationStructurePassSampleBufferAttachmentDescriptor* attachment,
                 NS::UInteger attachmentIndex);
};

class _MTL_EXPORT AccelerationStructurePassDescriptor : public NS::Copying<AccelerationStructurePassDescriptor> {
 public:
  static AccelerationStructurePassDescriptor* accelerationStructurePassDescriptor();
  static AccelerationStructurePassDescriptor* alloc();
  AccelerationStructurePassDescriptor* init();

  AccelerationStructurePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
};

}  // namespace MTL
