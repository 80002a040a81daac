// The descriptor of [[stage_in]] arguments: it is kept and copied. Kernels have their arguments from buffers.
#include <Metal/MTLStageInputOutputDescriptor.hpp>

#include "metal/property.hpp"

namespace metalloid::metal {

struct BufferLayoutProperties {
  static constexpr const char* class_name = "MTLBufferLayoutDescriptor";
  MTL::StepFunction stepFunction = MTL::StepFunctionPerVertex;
  NS::UInteger stepRate = 1;
  NS::UInteger stride = 0;
};
PROPERTIES(BufferLayoutDescriptor, BufferLayoutProperties)

struct AttributeProperties {
  static constexpr const char* class_name = "MTLAttributeDescriptor";
  MTL::AttributeFormat format = MTL::AttributeFormatInvalid;
  NS::UInteger bufferIndex = 0;
  NS::UInteger offset = 0;
};
PROPERTIES(AttributeDescriptor, AttributeProperties)

struct StageInputOutputProperties {
  static constexpr const char* class_name = "MTLStageInputOutputDescriptor";
  Nested<MTL::AttributeDescriptorArray> attributes;
  Nested<MTL::BufferLayoutDescriptorArray> layouts;
  NS::UInteger indexBufferIndex = 0;
  MTL::IndexType indexType = MTL::IndexTypeUInt16;
};
PROPERTIES(StageInputOutputDescriptor, StageInputOutputProperties)

}  // namespace metalloid::metal

namespace MTL {

constexpr NS::UInteger most_stage_inputs = 31;

ALLOC(BufferLayoutDescriptor)
PROPERTY(BufferLayoutDescriptor, stepFunction, setStepFunction)
PROPERTY(BufferLayoutDescriptor, stepRate, setStepRate)
PROPERTY(BufferLayoutDescriptor, stride, setStride)
DESCRIPTOR_ARRAY(BufferLayoutDescriptorArray, BufferLayoutDescriptor, most_stage_inputs)

ALLOC(AttributeDescriptor)
PROPERTY(AttributeDescriptor, format, setFormat)
PROPERTY(AttributeDescriptor, bufferIndex, setBufferIndex)
PROPERTY(AttributeDescriptor, offset, setOffset)
DESCRIPTOR_ARRAY(AttributeDescriptorArray, AttributeDescriptor, most_stage_inputs)

ALLOC(StageInputOutputDescriptor)
READ_PROPERTY(StageInputOutputDescriptor, attributes)
READ_PROPERTY(StageInputOutputDescriptor, layouts)
PROPERTY(StageInputOutputDescriptor, indexBufferIndex, setIndexBufferIndex)
PROPERTY(StageInputOutputDescriptor, indexType, setIndexType)

StageInputOutputDescriptor* StageInputOutputDescriptor::stageInputOutputDescriptor() {
  return metalloid::foundation::autoreleased(alloc()->init());
}

void StageInputOutputDescriptor::reset() {
  if (auto* self = metalloid::metal::properties(this)) *self = {};
}

}  // namespace MTL
