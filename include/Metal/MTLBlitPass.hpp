// A blit pass: where its counters are sampled.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CounterSampleBuffer;

class _MTL_EXPORT BlitPassSampleBufferAttachmentDescriptor
    : public NS::Copying<BlitPassSampleBufferAttachmentDescriptor> {
 public:
  static BlitPassSampleBufferAttachmentDescriptor* alloc();
  BlitPassSampleBufferAttachmentDescriptor* init();

  NS::UInteger endOfEncoderSampleIndex() const;
  void setEndOfEncoderSampleIndex(NS::UInteger endOfEncoderSampleIndex);
  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);
  NS::UInteger startOfEncoderSampleIndex() const;
  void setStartOfEncoderSampleIndex(NS::UInteger startOfEncoderSampleIndex);
};

class _MTL_EXPORT BlitPassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<BlitPassSampleBufferAttachmentDescriptorArray> {
 public:
  static BlitPassSampleBufferAttachmentDescriptorArray* alloc();
  BlitPassSampleBufferAttachmentDescriptorArray* init();

  BlitPassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const BlitPassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT BlitPassDescriptor : public NS::Copying<BlitPassDescriptor> {
 public:
  static BlitPassDescriptor* blitPassDescriptor();
  static BlitPassDescriptor* alloc();
  BlitPassDescriptor* init();

  BlitPassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
};

}  // namespace MTL
