// Changing the mappings of sparse textures. There are no sparse textures; the descriptors of such passes hold what they
// are given.
#include <Metal/MTLCounters.hpp>
#include <Metal/MTLResourceStateCommandEncoder.hpp>
#include <Metal/MTLResourceStatePass.hpp>

#include "metal/absent.hpp"
#include "metal/command_buffer.hpp"

namespace metalloid::metal {

struct ResourceStatePassSampleBufferProperties {
  static constexpr const char* class_name = "MTLResourceStatePassSampleBufferAttachmentDescriptor";
  NS::UInteger endOfEncoderSampleIndex = 0;
  NS::SharedPtr<MTL::CounterSampleBuffer> sampleBuffer;
  NS::UInteger startOfEncoderSampleIndex = 0;
};
PROPERTIES(ResourceStatePassSampleBufferAttachmentDescriptor, ResourceStatePassSampleBufferProperties)

struct ResourceStatePassProperties {
  static constexpr const char* class_name = "MTLResourceStatePassDescriptor";
  Nested<MTL::ResourceStatePassSampleBufferAttachmentDescriptorArray> sampleBufferAttachments;
};
PROPERTIES(ResourceStatePassDescriptor, ResourceStatePassProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(ResourceStatePassSampleBufferAttachmentDescriptor)
PROPERTY(ResourceStatePassSampleBufferAttachmentDescriptor, endOfEncoderSampleIndex, setEndOfEncoderSampleIndex)
PROPERTY(ResourceStatePassSampleBufferAttachmentDescriptor, sampleBuffer, setSampleBuffer)
PROPERTY(ResourceStatePassSampleBufferAttachmentDescriptor, startOfEncoderSampleIndex, setStartOfEncoderSampleIndex)

DESCRIPTOR_ARRAY(ResourceStatePassSampleBufferAttachmentDescriptorArray,
                 ResourceStatePassSampleBufferAttachmentDescriptor, 4)

ALLOC(ResourceStatePassDescriptor)
AUTORELEASED(ResourceStatePassDescriptor, resourceStatePassDescriptor)
READ_PROPERTY(ResourceStatePassDescriptor, sampleBufferAttachments)

ResourceStateCommandEncoder* CommandBuffer::resourceStateCommandEncoder() {
  return resourceStateCommandEncoder(nullptr);
}

ResourceStateCommandEncoder* CommandBuffer::resourceStateCommandEncoder(const ResourceStatePassDescriptor*) {
  if (auto* self = body(this)) self->fail(CommandBufferErrorInvalidResource, refuse("sparse textures"));
  return nullptr;
}

void ResourceStateCommandEncoder::waitForFence(const Fence*) {}
void ResourceStateCommandEncoder::updateFence(const Fence*) {}
void ResourceStateCommandEncoder::moveTextureMappingsFromTexture(const Texture*, NS::UInteger, NS::UInteger, Origin,
                                                                 Size, const Texture*, NS::UInteger, NS::UInteger,
                                                                 Origin) {}
void ResourceStateCommandEncoder::updateTextureMapping(const Texture*, const SparseTextureMappingMode, const Region,
                                                       const NS::UInteger, const NS::UInteger) {}
void ResourceStateCommandEncoder::updateTextureMapping(const Texture*, const SparseTextureMappingMode, const Buffer*,
                                                       NS::UInteger) {}
void ResourceStateCommandEncoder::updateTextureMappings(const Texture*, const SparseTextureMappingMode, const Region*,
                                                        const NS::UInteger*, const NS::UInteger*, NS::UInteger) {}

}  // namespace MTL
