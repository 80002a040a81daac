// How a texture is read: filters, addressing, comparison.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLDepthStencil.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Device;

_MTL_ENUM(NS::UInteger, SamplerMinMagFilter){
    SamplerMinMagFilterNearest = 0,
    SamplerMinMagFilterLinear = 1,
};

_MTL_ENUM(NS::UInteger, SamplerMipFilter){
    SamplerMipFilterNotMipmapped = 0,
    SamplerMipFilterNearest = 1,
    SamplerMipFilterLinear = 2,
};

_MTL_ENUM(NS::UInteger, SamplerAddressMode){
    SamplerAddressModeClampToEdge = 0, SamplerAddressModeMirrorClampToEdge = 1,
    SamplerAddressModeRepeat = 2,      SamplerAddressModeMirrorRepeat = 3,
    SamplerAddressModeClampToZero = 4, SamplerAddressModeClampToBorderColor = 5,
};

_MTL_ENUM(NS::UInteger, SamplerBorderColor){
    SamplerBorderColorTransparentBlack = 0,
    SamplerBorderColorOpaqueBlack = 1,
    SamplerBorderColorOpaqueWhite = 2,
};

_MTL_ENUM(NS::UInteger, SamplerReductionMode){
    SamplerReductionModeWeightedAverage = 0,
    SamplerReductionModeMinimum = 1,
    SamplerReductionModeMaximum = 2,
};

class _MTL_EXPORT SamplerDescriptor : public NS::Copying<SamplerDescriptor> {
 public:
  static SamplerDescriptor* alloc();
  SamplerDescriptor* init();

  NS::String* label() const;
  void setLabel(const NS::String* label);

  SamplerBorderColor borderColor() const;
  void setBorderColor(SamplerBorderColor borderColor);
  CompareFunction compareFunction() const;
  void setCompareFunction(CompareFunction compareFunction);
  bool lodAverage() const;
  void setLodAverage(bool lodAverage);
  float lodBias() const;
  void setLodBias(float lodBias);
  float lodMaxClamp() const;
  void setLodMaxClamp(float lodMaxClamp);
  float lodMinClamp() const;
  void setLodMinClamp(float lodMinClamp);
  SamplerMinMagFilter magFilter() const;
  void setMagFilter(SamplerMinMagFilter magFilter);
  NS::UInteger maxAnisotropy() const;
  void setMaxAnisotropy(NS::UInteger maxAnisotropy);
  SamplerMinMagFilter minFilter() const;
  void setMinFilter(SamplerMinMagFilter minFilter);
  SamplerMipFilter mipFilter() const;
  void setMipFilter(SamplerMipFilter mipFilter);
  bool normalizedCoordinates() const;
  void setNormalizedCoordinates(bool normalizedCoordinates);
  SamplerAddressMode rAddressMode() const;
  void setRAddressMode(SamplerAddressMode rAddressMode);
  SamplerReductionMode reductionMode() const;
  void setReductionMode(SamplerReductionMode reductionMode);
  SamplerAddressMode sAddressMode() const;
  void setSAddressMode(SamplerAddressMode sAddressMode);
  bool supportArgumentBuffers() const;
  void setSupportArgumentBuffers(bool supportArgumentBuffers);
  SamplerAddressMode tAddressMode() const;
  void setTAddressMode(SamplerAddressMode tAddressMode);
};

class _MTL_EXPORT SamplerState : public NS::Referencing<SamplerState> {
 public:
  Device* device() const;
  NS::String* label() const;
  ResourceID gpuResourceID() const;
};

}  // namespace MTL
