// The descriptors of compute and blit passes, and the encoders that are made with them.
#include <Metal/MTLBlitPass.hpp>
#include <Metal/MTLComputePass.hpp>

#include "metal/blit_encoder.hpp"
#include "metal/compute_encoder.hpp"
#include "metal/counters.hpp"
#include "metal/property.hpp"

namespace metalloid::metal {

constexpr NS::UInteger max_attachments = 4;

struct ComputeAttachmentProperties {
  static constexpr const char* class_name = "MTLComputePassSampleBufferAttachmentDescriptor";
  NS::SharedPtr<MTL::CounterSampleBuffer> sampleBuffer;
  NS::UInteger startOfEncoderSampleIndex = 0;
  NS::UInteger endOfEncoderSampleIndex = 0;
};

struct ComputePassProperties {
  static constexpr const char* class_name = "MTLComputePassDescriptor";
  MTL::DispatchType dispatchType = MTL::DispatchTypeSerial;
  Nested<MTL::ComputePassSampleBufferAttachmentDescriptorArray> sampleBufferAttachments;
};

struct BlitAttachmentProperties {
  static constexpr const char* class_name = "MTLBlitPassSampleBufferAttachmentDescriptor";
  NS::SharedPtr<MTL::CounterSampleBuffer> sampleBuffer;
  NS::UInteger startOfEncoderSampleIndex = 0;
  NS::UInteger endOfEncoderSampleIndex = 0;
};

struct BlitPassProperties {
  static constexpr const char* class_name = "MTLBlitPassDescriptor";
  Nested<MTL::BlitPassSampleBufferAttachmentDescriptorArray> sampleBufferAttachments;
};

PROPERTIES(ComputePassSampleBufferAttachmentDescriptor, ComputeAttachmentProperties)
PROPERTIES(ComputePassDescriptor, ComputePassProperties)
PROPERTIES(BlitPassSampleBufferAttachmentDescriptor, BlitAttachmentProperties)
PROPERTIES(BlitPassDescriptor, BlitPassProperties)

template <class Pass>
static SampleAttachments attachments_of(const Pass* pass) {
  SampleAttachments attachments;
  for (NS::UInteger i = 0; pass && i < max_attachments; ++i) {
    const auto* attachment = pass->sampleBufferAttachments()->object(i);
    if (MTL::CounterSampleBuffer* buffer = attachment->sampleBuffer())
      attachments.push_back(
          {NS::RetainPtr(buffer), attachment->startOfEncoderSampleIndex(), attachment->endOfEncoderSampleIndex()});
  }
  return attachments;
}

void sample_start(EncoderPart& encoder, const SampleAttachments& attachments, Call call) {
  for (const SampleAttachment& attachment : attachments)
    if (attachment.start != MTL::CounterDontSample)
      sample_counters(encoder, attachment.buffer.get(), attachment.start, call);
}

void sample_end(EncoderPart& encoder, const SampleAttachments& attachments, Call call) {
  for (const SampleAttachment& attachment : attachments)
    if (attachment.end != MTL::CounterDontSample)
      sample_counters(encoder, attachment.buffer.get(), attachment.end, call);
}

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(ComputePassSampleBufferAttachmentDescriptor)
PROPERTY(ComputePassSampleBufferAttachmentDescriptor, sampleBuffer, setSampleBuffer)
PROPERTY(ComputePassSampleBufferAttachmentDescriptor, startOfEncoderSampleIndex, setStartOfEncoderSampleIndex)
PROPERTY(ComputePassSampleBufferAttachmentDescriptor, endOfEncoderSampleIndex, setEndOfEncoderSampleIndex)
DESCRIPTOR_ARRAY(ComputePassSampleBufferAttachmentDescriptorArray, ComputePassSampleBufferAttachmentDescriptor,
                 max_attachments)

ALLOC(ComputePassDescriptor)
PROPERTY(ComputePassDescriptor, dispatchType, setDispatchType)
READ_PROPERTY(ComputePassDescriptor, sampleBufferAttachments)

ComputePassDescriptor* ComputePassDescriptor::computePassDescriptor() {
  return metalloid::foundation::autoreleased(alloc()->init());
}

ALLOC(BlitPassSampleBufferAttachmentDescriptor)
PROPERTY(BlitPassSampleBufferAttachmentDescriptor, sampleBuffer, setSampleBuffer)
PROPERTY(BlitPassSampleBufferAttachmentDescriptor, startOfEncoderSampleIndex, setStartOfEncoderSampleIndex)
PROPERTY(BlitPassSampleBufferAttachmentDescriptor, endOfEncoderSampleIndex, setEndOfEncoderSampleIndex)
DESCRIPTOR_ARRAY(BlitPassSampleBufferAttachmentDescriptorArray, BlitPassSampleBufferAttachmentDescriptor,
                 max_attachments)

ALLOC(BlitPassDescriptor)
READ_PROPERTY(BlitPassDescriptor, sampleBufferAttachments)

BlitPassDescriptor* BlitPassDescriptor::blitPassDescriptor() {
  return metalloid::foundation::autoreleased(alloc()->init());
}

static ComputeCommandEncoder* new_compute_encoder(CommandBufferObject* self, DispatchType type,
                                                  SampleAttachments attachments, Call call) {
  if (!self || !self->begin_encoder(call)) return nullptr;
  return metalloid::foundation::autoreleased(
      new ComputeCommandEncoderObject(*self, type, std::move(attachments), call));
}

ComputeCommandEncoder* CommandBuffer::computeCommandEncoder() {
  return new_compute_encoder(body(this), DispatchTypeSerial, {}, Call::current());
}

ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(DispatchType type) {
  return new_compute_encoder(body(this), type, {}, Call::current());
}

ComputeCommandEncoder* CommandBuffer::computeCommandEncoder(const ComputePassDescriptor* pass) {
  const DispatchType type = pass ? pass->dispatchType() : DispatchTypeSerial;
  return new_compute_encoder(body(this), type, attachments_of(pass), Call::current());
}

static BlitCommandEncoder* new_blit_encoder(CommandBufferObject* self, SampleAttachments attachments, Call call) {
  if (!self || !self->begin_encoder(call)) return nullptr;
  return metalloid::foundation::autoreleased(new BlitCommandEncoderObject(*self, std::move(attachments), call));
}

BlitCommandEncoder* CommandBuffer::blitCommandEncoder() {
  return new_blit_encoder(body(this), {}, Call::current());
}

BlitCommandEncoder* CommandBuffer::blitCommandEncoder(const BlitPassDescriptor* pass) {
  return new_blit_encoder(body(this), attachments_of(pass), Call::current());
}

}  // namespace MTL
