// A pass of sparse-texture commands: where its counters are sampled.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"

namespace MTL {

class CounterSampleBuffer;

class _MTL_EXPORT ResourceStatePassSampleBufferAttachmentDescriptor
    : public NS::Copying<ResourceStatePassSampleBufferAttachmentDescriptor> {
 public:
  static ResourceStatePassSampleBufferAttachmentDescriptor* alloc();
  ResourceStatePassSampleBufferAttachmentDescriptor* init();

  NS::UInteger endOfEncoderSampleIndex() const;
  void setEndOfEncoderSampleIndex(NS::UInteger endOfEncoderSampleIndex);
  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);
  NS::UInteger startOfEncoderSampleIndex() const;
  void setStartOfEncoderSampleIndex(NS::UInteger startOfEncoderSampleIndex);
};

class _MTL_EXPORT ResourceStatePassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<ResourceStatePassSampleBufferAttachmentDescriptorArray> {
 public:
  static ResourceStatePassSampleBufferAttachmentDescriptorArray* alloc();
  ResourceStatePassSampleBufferAttachmentDescriptorArray* init();

  ResourceStatePassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const ResourceStatePassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT ResourceStatePassDescriptor : public NS::Copying<ResourceStatePassDescriptor> {
 public:
  static ResourceStatePassDescriptor* resourceStatePassDescriptor();
  static ResourceStatePassDescriptor* alloc();
  ResourceStatePassDescriptor* init();

  ResourceStatePassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
};

}  // namespace MTL
