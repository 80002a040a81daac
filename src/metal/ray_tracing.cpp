// Descriptors of acceleration structures and of what works with them. The structures themselves are not there.
#include <Metal/MTLAccelerationStructure.hpp>
#include <Metal/MTLAccelerationStructureCommandEncoder.hpp>
#include <Metal/MTLBuffer.hpp>
#include <Metal/MTLCounters.hpp>
#include <Metal/MTLDevice.hpp>
#include <Metal/MTLFence.hpp>
#include <Metal/MTLHeap.hpp>
#include <Metal/MTLIntersectionFunctionTable.hpp>
#include <Metal/MTLVisibleFunctionTable.hpp>
#include <cstddef>

#include "metal/absent.hpp"
#include "metal/command_buffer.hpp"

namespace metalloid::metal {

struct AccelerationStructureProperties {
  static constexpr const char* class_name = "MTLAccelerationStructureDescriptor";
  MTL::AccelerationStructureUsage usage = MTL::AccelerationStructureUsageNone;
};
BASE_PROPERTIES(AccelerationStructureDescriptor, AccelerationStructureProperties)

struct PrimitiveAccelerationStructureProperties {
  static constexpr const char* class_name = "MTLPrimitiveAccelerationStructureDescriptor";
  Copied<NS::Array> geometryDescriptors;
  MTL::MotionBorderMode motionEndBorderMode = MTL::MotionBorderModeClamp;
  float motionEndTime = 1;
  NS::UInteger motionKeyframeCount = 1;
  MTL::MotionBorderMode motionStartBorderMode = MTL::MotionBorderModeClamp;
  float motionStartTime = 0;
};
DERIVED_PROPERTIES(PrimitiveAccelerationStructureDescriptor, AccelerationStructureProperties,
                   PrimitiveAccelerationStructureProperties)

struct InstanceAccelerationStructureProperties {
  static constexpr const char* class_name = "MTLInstanceAccelerationStructureDescriptor";
  NS::UInteger instanceCount = 0;
  NS::SharedPtr<MTL::Buffer> instanceDescriptorBuffer;
  NS::UInteger instanceDescriptorBufferOffset = 0;
  NS::UInteger instanceDescriptorStride = sizeof(MTL::AccelerationStructureInstanceDescriptor);
  MTL::AccelerationStructureInstanceDescriptorType instanceDescriptorType =
      MTL::AccelerationStructureInstanceDescriptorTypeDefault;
  MTL::MatrixLayout instanceTransformationMatrixLayout = MTL::MatrixLayoutColumnMajor;
  Copied<NS::Array> instancedAccelerationStructures;
  NS::SharedPtr<MTL::Buffer> motionTransformBuffer;
  NS::UInteger motionTransformBufferOffset = 0;
  NS::UInteger motionTransformCount = 0;
  NS::UInteger motionTransformStride = sizeof(MTL::PackedFloat4x3);
  MTL::TransformType motionTransformType = MTL::TransformTypePackedFloat4x3;
};
DERIVED_PROPERTIES(InstanceAccelerationStructureDescriptor, AccelerationStructureProperties,
                   InstanceAccelerationStructureProperties)

struct IndirectInstanceAccelerationStructureProperties {
  static constexpr const char* class_name = "MTLIndirectInstanceAccelerationStructureDescriptor";
  NS::SharedPtr<MTL::Buffer> instanceCountBuffer;
  NS::UInteger instanceCountBufferOffset = 0;
  NS::SharedPtr<MTL::Buffer> instanceDescriptorBuffer;
  NS::UInteger instanceDescriptorBufferOffset = 0;
  NS::UInteger instanceDescriptorStride = sizeof(MTL::IndirectAccelerationStructureInstanceDescriptor);
  MTL::AccelerationStructureInstanceDescriptorType instanceDescriptorType =
      MTL::AccelerationStructureInstanceDescriptorTypeIndirect;
  MTL::MatrixLayout instanceTransformationMatrixLayout = MTL::MatrixLayoutColumnMajor;
  NS::UInteger maxInstanceCount = 0;
  NS::UInteger maxMotionTransformCount = 0;
  NS::SharedPtr<MTL::Buffer> motionTransformBuffer;
  NS::UInteger motionTransformBufferOffset = 0;
  NS::SharedPtr<MTL::Buffer> motionTransformCountBuffer;
  NS::UInteger motionTransformCountBufferOffset = 0;
  NS::UInteger motionTransformStride = sizeof(MTL::PackedFloat4x3);
  MTL::TransformType motionTransformType = MTL::TransformTypePackedFloat4x3;
};
DERIVED_PROPERTIES(IndirectInstanceAccelerationStructureDescriptor, AccelerationStructureProperties,
                   IndirectInstanceAccelerationStructureProperties)

struct MotionKeyframeProperties {
  static constexpr const char* class_name = "MTLMotionKeyframeData";
  NS::SharedPtr<MTL::Buffer> buffer;
  NS::UInteger offset = 0;
};
PROPERTIES(MotionKeyframeData, MotionKeyframeProperties)

struct AccelerationStructurePassSampleBufferProperties {
  static constexpr const char* class_name = "MTLAccelerationStructurePassSampleBufferAttachmentDescriptor";
  NS::UInteger endOfEncoderSampleIndex = 0;
  NS::SharedPtr<MTL::CounterSampleBuffer> sampleBuffer;
  NS::UInteger startOfEncoderSampleIndex = 0;
};
PROPERTIES(AccelerationStructurePassSampleBufferAttachmentDescriptor, AccelerationStructurePassSampleBufferProperties)

struct AccelerationStructurePassProperties {
  static constexpr const char* class_name = "MTLAccelerationStructurePassDescriptor";
  Nested<MTL::AccelerationStructurePassSampleBufferAttachmentDescriptorArray> sampleBufferAttachments;
};
PROPERTIES(AccelerationStructurePassDescriptor, AccelerationStructurePassProperties)

struct IntersectionFunctionTableProperties {
  static constexpr const char* class_name = "MTLIntersectionFunctionTableDescriptor";
  NS::UInteger functionCount = 0;
};
PROPERTIES(IntersectionFunctionTableDescriptor, IntersectionFunctionTableProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

static std::nullptr_t no_ray_tracing(Call call) {
  refuse("ray tracing", call);
  return nullptr;
}

ALLOC(AccelerationStructureDescriptor)
PROPERTY(AccelerationStructureDescriptor, usage, setUsage)

ALLOC(PrimitiveAccelerationStructureDescriptor)
AUTORELEASED(PrimitiveAccelerationStructureDescriptor, descriptor)
PROPERTY(PrimitiveAccelerationStructureDescriptor, geometryDescriptors, setGeometryDescriptors)
PROPERTY(PrimitiveAccelerationStructureDescriptor, motionEndBorderMode, setMotionEndBorderMode)
PROPERTY(PrimitiveAccelerationStructureDescriptor, motionEndTime, setMotionEndTime)
PROPERTY(PrimitiveAccelerationStructureDescriptor, motionKeyframeCount, setMotionKeyframeCount)
PROPERTY(PrimitiveAccelerationStructureDescriptor, motionStartBorderMode, setMotionStartBorderMode)
PROPERTY(PrimitiveAccelerationStructureDescriptor, motionStartTime, setMotionStartTime)

ALLOC(InstanceAccelerationStructureDescriptor)
AUTORELEASED(InstanceAccelerationStructureDescriptor, descriptor)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceCount, setInstanceCount)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceDescriptorBuffer, setInstanceDescriptorBuffer)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceDescriptorBufferOffset, setInstanceDescriptorBufferOffset)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceDescriptorStride, setInstanceDescriptorStride)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceDescriptorType, setInstanceDescriptorType)
PROPERTY(InstanceAccelerationStructureDescriptor, instanceTransformationMatrixLayout,
         setInstanceTransformationMatrixLayout)
PROPERTY(InstanceAccelerationStructureDescriptor, instancedAccelerationStructures, setInstancedAccelerationStructures)
PROPERTY(InstanceAccelerationStructureDescriptor, motionTransformBuffer, setMotionTransformBuffer)
PROPERTY(InstanceAccelerationStructureDescriptor, motionTransformBufferOffset, setMotionTransformBufferOffset)
PROPERTY(InstanceAccelerationStructureDescriptor, motionTransformCount, setMotionTransformCount)
PROPERTY(InstanceAccelerationStructureDescriptor, motionTransformStride, setMotionTransformStride)
PROPERTY(InstanceAccelerationStructureDescriptor, motionTransformType, setMotionTransformType)

ALLOC(IndirectInstanceAccelerationStructureDescriptor)
AUTORELEASED(IndirectInstanceAccelerationStructureDescriptor, descriptor)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceCountBuffer, setInstanceCountBuffer)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceCountBufferOffset, setInstanceCountBufferOffset)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceDescriptorBuffer, setInstanceDescriptorBuffer)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceDescriptorBufferOffset,
         setInstanceDescriptorBufferOffset)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceDescriptorStride, setInstanceDescriptorStride)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceDescriptorType, setInstanceDescriptorType)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, instanceTransformationMatrixLayout,
         setInstanceTransformationMatrixLayout)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, maxInstanceCount, setMaxInstanceCount)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, maxMotionTransformCount, setMaxMotionTransformCount)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformBuffer, setMotionTransformBuffer)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformBufferOffset, setMotionTransformBufferOffset)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformCountBuffer, setMotionTransformCountBuffer)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformCountBufferOffset,
         setMotionTransformCountBufferOffset)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformStride, setMotionTransformStride)
PROPERTY(IndirectInstanceAccelerationStructureDescriptor, motionTransformType, setMotionTransformType)

ALLOC(MotionKeyframeData)
AUTORELEASED(MotionKeyframeData, data)
PROPERTY(MotionKeyframeData, buffer, setBuffer)
PROPERTY(MotionKeyframeData, offset, setOffset)

ALLOC(AccelerationStructurePassSampleBufferAttachmentDescriptor)
PROPERTY(AccelerationStructurePassSampleBufferAttachmentDescriptor, endOfEncoderSampleIndex, setEndOfEncoderSampleIndex)
PROPERTY(AccelerationStructurePassSampleBufferAttachmentDescriptor, sampleBuffer, setSampleBuffer)
PROPERTY(AccelerationStructurePassSampleBufferAttachmentDescriptor, startOfEncoderSampleIndex,
         setStartOfEncoderSampleIndex)

DESCRIPTOR_ARRAY(AccelerationStructurePassSampleBufferAttachmentDescriptorArray,
                 AccelerationStructurePassSampleBufferAttachmentDescriptor, 4)

ALLOC(AccelerationStructurePassDescriptor)
AUTORELEASED(AccelerationStructurePassDescriptor, accelerationStructurePassDescriptor)
READ_PROPERTY(AccelerationStructurePassDescriptor, sampleBufferAttachments)

ALLOC(IntersectionFunctionTableDescriptor)
AUTORELEASED(IntersectionFunctionTableDescriptor, intersectionFunctionTableDescriptor)
PROPERTY(IntersectionFunctionTableDescriptor, functionCount, setFunctionCount)

AccelerationStructure* Device::newAccelerationStructure(NS::UInteger) {
  return no_ray_tracing(Call::current());
}

AccelerationStructure* Device::newAccelerationStructure(const AccelerationStructureDescriptor*) {
  return no_ray_tracing(Call::current());
}

AccelerationStructure* Heap::newAccelerationStructure(NS::UInteger) {
  return no_ray_tracing(Call::current());
}

AccelerationStructure* Heap::newAccelerationStructure(NS::UInteger, NS::UInteger) {
  return no_ray_tracing(Call::current());
}

AccelerationStructure* Heap::newAccelerationStructure(const AccelerationStructureDescriptor*) {
  return no_ray_tracing(Call::current());
}

AccelerationStructure* Heap::newAccelerationStructure(const AccelerationStructureDescriptor*, NS::UInteger) {
  return no_ray_tracing(Call::current());
}

AccelerationStructureSizes Device::accelerationStructureSizes(const AccelerationStructureDescriptor*) {
  no_ray_tracing(Call::current());
  return {};
}

SizeAndAlign Device::heapAccelerationStructureSizeAndAlign(NS::UInteger) {
  no_ray_tracing(Call::current());
  return {};
}

SizeAndAlign Device::heapAccelerationStructureSizeAndAlign(const AccelerationStructureDescriptor*) {
  no_ray_tracing(Call::current());
  return {};
}

AccelerationStructureCommandEncoder* CommandBuffer::accelerationStructureCommandEncoder() {
  return accelerationStructureCommandEncoder(nullptr);
}

AccelerationStructureCommandEncoder* CommandBuffer::accelerationStructureCommandEncoder(
    const AccelerationStructurePassDescriptor*) {
  if (auto* self = body(this)) self->fail(CommandBufferErrorInvalidResource, refuse("ray tracing"));
  return nullptr;
}

NEVER_SENT(ResourceID AccelerationStructure::gpuResourceID() const)
NEVER_SENT(NS::UInteger AccelerationStructure::size() const)

void AccelerationStructureCommandEncoder::copyAccelerationStructure(const AccelerationStructure*,
                                                                    const AccelerationStructure*) {}
void AccelerationStructureCommandEncoder::copyAndCompactAccelerationStructure(const AccelerationStructure*,
                                                                              const AccelerationStructure*) {}
void AccelerationStructureCommandEncoder::useHeap(const Heap*) {}
void AccelerationStructureCommandEncoder::useHeaps(const Heap* const*, NS::UInteger) {}
void AccelerationStructureCommandEncoder::useResource(const Resource*, ResourceUsage) {}
void AccelerationStructureCommandEncoder::useResources(const Resource* const*, NS::UInteger, ResourceUsage) {}
void AccelerationStructureCommandEncoder::waitForFence(const Fence*) {}
void AccelerationStructureCommandEncoder::updateFence(const Fence*) {}
void AccelerationStructureCommandEncoder::sampleCountersInBuffer(const CounterSampleBuffer*, NS::UInteger, bool) {}
void AccelerationStructureCommandEncoder::buildAccelerationStructure(const AccelerationStructure*,
                                                                     const AccelerationStructureDescriptor*,
                                                                     const Buffer*, NS::UInteger) {}
void AccelerationStructureCommandEncoder::refitAccelerationStructure(const AccelerationStructure*,
                                                                     const AccelerationStructureDescriptor*,
                                                                     const AccelerationStructure*, const Buffer*,
                                                                     NS::UInteger) {}
void AccelerationStructureCommandEncoder::refitAccelerationStructure(const AccelerationStructure*,
                                                                     const AccelerationStructureDescriptor*,
                                                                     const AccelerationStructure*, const Buffer*,
                                                                     NS::UInteger, AccelerationStructureRefitOptions) {}
void AccelerationStructureCommandEncoder::writeCompactedAccelerationStructureSize(const AccelerationStructure*,
                                                                                  const Buffer*, NS::UInteger) {}
void AccelerationStructureCommandEncoder::writeCompactedAccelerationStructureSize(const AccelerationStructure*,
                                                                                  const Buffer*, NS::UInteger,
                                                                                  DataType) {}

NEVER_SENT(ResourceID IntersectionFunctionTable::gpuResourceID() const)
void IntersectionFunctionTable::setBuffer(const Buffer*, NS::UInteger, NS::UInteger) {}
void IntersectionFunctionTable::setBuffers(const Buffer* const*, const NS::UInteger*, NS::Range) {}
void IntersectionFunctionTable::setOpaqueCurveIntersectionFunction(IntersectionFunctionSignature, NS::UInteger) {}
void IntersectionFunctionTable::setOpaqueCurveIntersectionFunction(IntersectionFunctionSignature, NS::Range) {}
void IntersectionFunctionTable::setOpaqueTriangleIntersectionFunction(IntersectionFunctionSignature, NS::UInteger) {}
void IntersectionFunctionTable::setOpaqueTriangleIntersectionFunction(IntersectionFunctionSignature, NS::Range) {}
void IntersectionFunctionTable::setVisibleFunctionTable(const VisibleFunctionTable*, NS::UInteger) {}
void IntersectionFunctionTable::setVisibleFunctionTables(const VisibleFunctionTable* const*, NS::Range) {}
void IntersectionFunctionTable::setFunction(const FunctionHandle*, NS::UInteger) {}
void IntersectionFunctionTable::setFunctions(const FunctionHandle* const*, NS::Range) {}

}  // namespace MTL
