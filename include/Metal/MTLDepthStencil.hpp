// Depth and stencil tests of the rendering half.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

_MTL_ENUM(NS::UInteger, CompareFunction){
    CompareFunctionNever = 0,        CompareFunctionLess = 1,    CompareFunctionEqual = 2,
    CompareFunctionLessEqual = 3,    CompareFunctionGreater = 4, CompareFunctionNotEqual = 5,
    CompareFunctionGreaterEqual = 6, CompareFunctionAlways = 7,
};

_MTL_ENUM(NS::UInteger, StencilOperation){
    StencilOperationKeep = 0,           StencilOperationZero = 1,           StencilOperationReplace = 2,
    StencilOperationIncrementClamp = 3, StencilOperationDecrementClamp = 4, StencilOperationInvert = 5,
    StencilOperationIncrementWrap = 6,  StencilOperationDecrementWrap = 7,
};

class _MTL_EXPORT StencilDescriptor : public NS::Copying<StencilDescriptor> {
 public:
  static StencilDescriptor* alloc();
  StencilDescriptor* init();

  StencilOperation depthFailureOperation() const;
  void setDepthFailureOperation(StencilOperation depthFailureOperation);
  StencilOperation depthStencilPassOperation() const;
  void setDepthStencilPassOperation(StencilOperation depthStencilPassOperation);
  uint32_t readMask() const;
  void setReadMask(uint32_t readMask);
  CompareFunction stencilCompareFunction() const;
  void setStencilCompareFunction(CompareFunction stencilCompareFunction);
  StencilOperation stencilFailureOperation() const;
  void setStencilFailureOperation(StencilOperation stencilFailureOperation);
  uint32_t writeMask() const;
  void setWriteMask(uint32_t writeMask);
};

class _MTL_EXPORT DepthStencilDescriptor : public NS::Copying<DepthStencilDescriptor> {
 public:
  static DepthStencilDescriptor* alloc();
  DepthStencilDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  StencilDescriptor* backFaceStencil() const;
  void setBackFaceStencil(const StencilDescriptor* backFaceStencil);
  CompareFunction depthCompareFunction() const;
  void setDepthCompareFunction(CompareFunction depthCompareFunction);
  StencilDescriptor* frontFaceStencil() const;
  void setFrontFaceStencil(const StencilDescriptor* frontFaceStencil);
  bool isDepthWriteEnabled() const;
  void setDepthWriteEnabled(bool depthWriteEnabled);

  [[deprecated("use isDepthWriteEnabled()")]] bool depthWriteEnabled() const { return isDepthWriteEnabled(); }
};

class _MTL_EXPORT DepthStencilState : public NS::Referencing<DepthStencilState> {
 public:
  Device* device() const;
  NS::String* label() const;
  ResourceID gpuResourceID() const;
};

}  // namespace MTL
