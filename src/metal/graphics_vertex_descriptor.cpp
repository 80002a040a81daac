// How vertices lie in buffers: descriptors, and the inputs of a vertex function as reflection has them. Functions of
// compute have none.
#include <Metal/MTLArgument.hpp>
#include <Metal/MTLLibrary.hpp>
#include <Metal/MTLVertexDescriptor.hpp>

#include "metal/absent.hpp"

namespace metalloid::metal {

constexpr NS::UInteger most_vertex_buffers = 31;

struct VertexBufferLayoutProperties {
  static constexpr const char* class_name = "MTLVertexBufferLayoutDescriptor";
  MTL::VertexStepFunction stepFunction = MTL::VertexStepFunctionPerVertex;
  NS::UInteger stepRate = 1;
  NS::UInteger stride = 0;
};
PROPERTIES(VertexBufferLayoutDescriptor, VertexBufferLayoutProperties)

struct VertexAttributeDescriptorProperties {
  static constexpr const char* class_name = "MTLVertexAttributeDescriptor";
  NS::UInteger bufferIndex = 0;
  MTL::VertexFormat format = MTL::VertexFormatInvalid;
  NS::UInteger offset = 0;
};
PROPERTIES(VertexAttributeDescriptor, VertexAttributeDescriptorProperties)

struct VertexProperties {
  static constexpr const char* class_name = "MTLVertexDescriptor";
  Nested<MTL::VertexAttributeDescriptorArray> attributes;
  Nested<MTL::VertexBufferLayoutDescriptorArray> layouts;
};
PROPERTIES(VertexDescriptor, VertexProperties)

struct StageInputAttributeProperties {
  static constexpr const char* class_name = "MTLAttribute";
  Copied<NS::String> name;
  NS::UInteger attributeIndex = 0;
  MTL::DataType attributeType = {};
  bool isActive = false;
  bool isPatchControlPointData = false;
  bool isPatchData = false;
};
PROPERTIES(Attribute, StageInputAttributeProperties)

struct VertexAttributeProperties {
  static constexpr const char* class_name = "MTLVertexAttribute";
  Copied<NS::String> name;
  NS::UInteger attributeIndex = 0;
  MTL::DataType attributeType = {};
  bool isActive = false;
  bool isPatchControlPointData = false;
  bool isPatchData = false;
};
PROPERTIES(VertexAttribute, VertexAttributeProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(VertexBufferLayoutDescriptor)
PROPERTY(VertexBufferLayoutDescriptor, stepFunction, setStepFunction)
PROPERTY(VertexBufferLayoutDescriptor, stepRate, setStepRate)
PROPERTY(VertexBufferLayoutDescriptor, stride, setStride)

DESCRIPTOR_ARRAY(VertexBufferLayoutDescriptorArray, VertexBufferLayoutDescriptor, most_vertex_buffers)

ALLOC(VertexAttributeDescriptor)
PROPERTY(VertexAttributeDescriptor, bufferIndex, setBufferIndex)
PROPERTY(VertexAttributeDescriptor, format, setFormat)
PROPERTY(VertexAttributeDescriptor, offset, setOffset)

DESCRIPTOR_ARRAY(VertexAttributeDescriptorArray, VertexAttributeDescriptor, most_vertex_buffers)

ALLOC(VertexDescriptor)
AUTORELEASED(VertexDescriptor, vertexDescriptor)
RESET(VertexDescriptor)
READ_PROPERTY(VertexDescriptor, attributes)
READ_PROPERTY(VertexDescriptor, layouts)

ALLOC(Attribute)
READ_PROPERTY(Attribute, name)
READ_PROPERTY(Attribute, attributeIndex)
READ_PROPERTY(Attribute, attributeType)
READ_PROPERTY(Attribute, isActive)
READ_PROPERTY(Attribute, isPatchControlPointData)
READ_PROPERTY(Attribute, isPatchData)

ALLOC(VertexAttribute)
READ_PROPERTY(VertexAttribute, name)
READ_PROPERTY(VertexAttribute, attributeIndex)
READ_PROPERTY(VertexAttribute, attributeType)
READ_PROPERTY(VertexAttribute, isActive)
READ_PROPERTY(VertexAttribute, isPatchControlPointData)
READ_PROPERTY(VertexAttribute, isPatchData)

}  // namespace MTL
