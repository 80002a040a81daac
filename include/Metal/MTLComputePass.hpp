// A compute pass: whether its dispatches may overlap, and where its counters are sampled.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLCommandBuffer.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CounterSampleBuffer;

class _MTL_EXPORT ComputePassSampleBufferAttachmentDescriptor
    : public NS::Copying<ComputePassSampleBufferAttachmentDescriptor> {
 public:
  static ComputePassSampleBufferAttachmentDescriptor* alloc();
  ComputePassSampleBufferAttachmentDescriptor* init();

  NS::UInteger endOfEncoderSampleIndex() const;
  void setEndOfEncoderSampleIndex(NS::UInteger endOfEncoderSampleIndex);
  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);
  NS::UInteger startOfEncoderSampleIndex() const;
  void setStartOfEncoderSampleIndex(NS::UInteger startOfEncoderSampleIndex);
};

class _MTL_EXPORT ComputePassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<ComputePassSampleBufferAttachmentDescriptorArray> {
 public:
  static ComputePassSampleBufferAttachmentDescriptorArray* alloc();
  ComputePassSampleBufferAttachmentDescriptorArray* init();

  ComputePassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const ComputePassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT ComputePassDescriptor : public NS::Copying<ComputePassDescriptor> {
 public:
  static ComputePassDescriptor* computePassDescriptor();
  static ComputePassDescriptor* alloc();
  ComputePassDescriptor* init();

  DispatchType dispatchType() const;
  void setDispatchType(DispatchType dispatchType);
  ComputePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
};

}  // namespace MTL
