// Descriptors of depth and stencil tests. The states themselves are not there.
#include <Metal/MTLDepthStencil.hpp>
#include <Metal/MTLDevice.hpp>

#include "metal/absent.hpp"

namespace metalloid::metal {

struct StencilProperties {
  static constexpr const char* class_name = "MTLStencilDescriptor";
  MTL::StencilOperation depthFailureOperation = MTL::StencilOperationKeep;
  MTL::StencilOperation depthStencilPassOperation = MTL::StencilOperationKeep;
  uint32_t readMask = 0xFFFFFFFF;
  MTL::CompareFunction stencilCompareFunction = MTL::CompareFunctionAlways;
  MTL::StencilOperation stencilFailureOperation = MTL::StencilOperationKeep;
  uint32_t writeMask = 0xFFFFFFFF;
};
PROPERTIES(StencilDescriptor, StencilProperties)

struct DepthStencilProperties {
  static constexpr const char* class_name = "MTLDepthStencilDescriptor";
  Copied<NS::String> label;
  Nested<MTL::StencilDescriptor> backFaceStencil;
  MTL::CompareFunction depthCompareFunction = MTL::CompareFunctionAlways;
  Nested<MTL::StencilDescriptor> frontFaceStencil;
  bool isDepthWriteEnabled = false;
};
PROPERTIES(DepthStencilDescriptor, DepthStencilProperties)

}  // namespace metalloid::metal

namespace MTL {

using namespace metalloid::metal;

ALLOC(StencilDescriptor)
PROPERTY(StencilDescriptor, depthFailureOperation, setDepthFailureOperation)
PROPERTY(StencilDescriptor, depthStencilPassOperation, setDepthStencilPassOperation)
PROPERTY(StencilDescriptor, readMask, setReadMask)
PROPERTY(StencilDescriptor, stencilCompareFunction, setStencilCompareFunction)
PROPERTY(StencilDescriptor, stencilFailureOperation, setStencilFailureOperation)
PROPERTY(StencilDescriptor, writeMask, setWriteMask)

ALLOC(DepthStencilDescriptor)
PROPERTY(DepthStencilDescriptor, label, setLabel)
PROPERTY(DepthStencilDescriptor, backFaceStencil, setBackFaceStencil)
PROPERTY(DepthStencilDescriptor, depthCompareFunction, setDepthCompareFunction)
PROPERTY(DepthStencilDescriptor, frontFaceStencil, setFrontFaceStencil)
PROPERTY(DepthStencilDescriptor, isDepthWriteEnabled, setDepthWriteEnabled)

DepthStencilState* Device::newDepthStencilState(const DepthStencilDescriptor*) {
  refuse("drawing");
  return nullptr;
}

NEVER_SENT(Device* DepthStencilState::device() const)
NEVER_SENT(NS::String* DepthStencilState::label() const)
NEVER_SENT(ResourceID DepthStencilState::gpuResourceID() const)

}  // namespace MTL
