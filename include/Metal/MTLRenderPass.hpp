// A render pass: what is drawn into, how it is loaded and stored, and where counters are sampled.
#pragma once

#include <cstdint>

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLTypes.hpp"

namespace MTL {

class Buffer;
class CounterSampleBuffer;
class RasterizationRateMap;
class Texture;

_MTL_ENUM(NS::UInteger, LoadAction){
    LoadActionDontCare = 0,
    LoadActionLoad = 1,
    LoadActionClear = 2,
};

_MTL_ENUM(NS::UInteger, StoreAction){
    StoreActionDontCare = 0,
    StoreActionStore = 1,
    StoreActionMultisampleResolve = 2,
    StoreActionStoreAndMultisampleResolve = 3,
    StoreActionUnknown = 4,
    StoreActionCustomSampleDepthStore = 5,
};

_MTL_ENUM(NS::Integer, VisibilityResultType){
    VisibilityResultTypeReset = 0,
    VisibilityResultTypeAccumulate = 1,
};

_MTL_ENUM(NS::UInteger, MultisampleDepthResolveFilter){
    MultisampleDepthResolveFilterSample0 = 0,
    MultisampleDepthResolveFilterMin = 1,
    MultisampleDepthResolveFilterMax = 2,
};

_MTL_ENUM(NS::UInteger, MultisampleStencilResolveFilter){
    MultisampleStencilResolveFilterSample0 = 0,
    MultisampleStencilResolveFilterDepthResolvedSample = 1,
};

_MTL_OPTIONS(NS::UInteger, StoreActionOptions){
    StoreActionOptionNone = 0,
    StoreActionOptionCustomSamplePositions = 1,
    StoreActionOptionValidMask = 1,
};

struct ClearColor {
  ClearColor() = default;
  ClearColor(double red, double green, double blue, double alpha) : red(red), green(green), blue(blue), alpha(alpha) {}
  static ClearColor Make(double red, double green, double blue, double alpha) {
    return ClearColor(red, green, blue, alpha);
  }

  double red;
  double green;
  double blue;
  double alpha;
};

class _MTL_EXPORT RenderPassAttachmentDescriptor : public NS::Copying<RenderPassAttachmentDescriptor> {
 public:
  static RenderPassAttachmentDescriptor* alloc();
  RenderPassAttachmentDescriptor* init();

  NS::UInteger depthPlane() const;
  void setDepthPlane(NS::UInteger depthPlane);
  NS::UInteger level() const;
  void setLevel(NS::UInteger level);
  LoadAction loadAction() const;
  void setLoadAction(LoadAction loadAction);
  NS::UInteger resolveDepthPlane() const;
  void setResolveDepthPlane(NS::UInteger resolveDepthPlane);
  NS::UInteger resolveLevel() const;
  void setResolveLevel(NS::UInteger resolveLevel);
  NS::UInteger resolveSlice() const;
  void setResolveSlice(NS::UInteger resolveSlice);
  Texture* resolveTexture() const;
  void setResolveTexture(const Texture* resolveTexture);
  NS::UInteger slice() const;
  void setSlice(NS::UInteger slice);
  StoreAction storeAction() const;
  void setStoreAction(StoreAction storeAction);
  StoreActionOptions storeActionOptions() const;
  void setStoreActionOptions(StoreActionOptions storeActionOptions);
  Texture* texture() const;
  void setTexture(const Texture* texture);
};

class _MTL_EXPORT RenderPassColorAttachmentDescriptor
    : public NS::Copying<RenderPassColorAttachmentDescriptor, RenderPassAttachmentDescriptor> {
 public:
  static RenderPassColorAttachmentDescriptor* alloc();
  RenderPassColorAttachmentDescriptor* init();

  ClearColor clearColor() const;
  void setClearColor(ClearColor clearColor);
};

class _MTL_EXPORT RenderPassDepthAttachmentDescriptor
    : public NS::Copying<RenderPassDepthAttachmentDescriptor, RenderPassAttachmentDescriptor> {
 public:
  static RenderPassDepthAttachmentDescriptor* alloc();
  RenderPassDepthAttachmentDescriptor* init();

  double clearDepth() const;
  void setClearDepth(double clearDepth);
  MultisampleDepthResolveFilter depthResolveFilter() const;
  void setDepthResolveFilter(MultisampleDepthResolveFilter depthResolveFilter);
};

class _MTL_EXPORT RenderPassStencilAttachmentDescriptor
    : public NS::Copying<RenderPassStencilAttachmentDescriptor, RenderPassAttachmentDescriptor> {
 public:
  static RenderPassStencilAttachmentDescriptor* alloc();
  RenderPassStencilAttachmentDescriptor* init();

  uint32_t clearStencil() const;
  void setClearStencil(uint32_t clearStencil);
  MultisampleStencilResolveFilter stencilResolveFilter() const;
  void setStencilResolveFilter(MultisampleStencilResolveFilter stencilResolveFilter);
};

class _MTL_EXPORT RenderPassColorAttachmentDescriptorArray
    : public NS::Referencing<RenderPassColorAttachmentDescriptorArray> {
 public:
  static RenderPassColorAttachmentDescriptorArray* alloc();
  RenderPassColorAttachmentDescriptorArray* init();

  RenderPassColorAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const RenderPassColorAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT RenderPassSampleBufferAttachmentDescriptor
    : public NS::Copying<RenderPassSampleBufferAttachmentDescriptor> {
 public:
  static RenderPassSampleBufferAttachmentDescriptor* alloc();
  RenderPassSampleBufferAttachmentDescriptor* init();

  NS::UInteger endOfFragmentSampleIndex() const;
  void setEndOfFragmentSampleIndex(NS::UInteger endOfFragmentSampleIndex);
  NS::UInteger endOfVertexSampleIndex() const;
  void setEndOfVertexSampleIndex(NS::UInteger endOfVertexSampleIndex);
  CounterSampleBuffer* sampleBuffer() const;
  void setSampleBuffer(const CounterSampleBuffer* sampleBuffer);
  NS::UInteger startOfFragmentSampleIndex() const;
  void setStartOfFragmentSampleIndex(NS::UInteger startOfFragmentSampleIndex);
  NS::UInteger startOfVertexSampleIndex() const;
  void setStartOfVertexSampleIndex(NS::UInteger startOfVertexSampleIndex);
};

class _MTL_EXPORT RenderPassSampleBufferAttachmentDescriptorArray
    : public NS::Referencing<RenderPassSampleBufferAttachmentDescriptorArray> {
 public:
  static RenderPassSampleBufferAttachmentDescriptorArray* alloc();
  RenderPassSampleBufferAttachmentDescriptorArray* init();

  RenderPassSampleBufferAttachmentDescriptor* object(NS::UInteger attachmentIndex);
  void setObject(const RenderPassSampleBufferAttachmentDescriptor* attachment, NS::UInteger attachmentIndex);
};

class _MTL_EXPORT RenderPassDescriptor : public NS::Copying<RenderPassDescriptor> {
 public:
  static RenderPassDescriptor* renderPassDescriptor();

  static RenderPassDescriptor* alloc();
  RenderPassDescriptor* init();

  RenderPassColorAttachmentDescriptorArray* colorAttachments() const;
  NS::UInteger defaultRasterSampleCount() const;
  void setDefaultRasterSampleCount(NS::UInteger defaultRasterSampleCount);
  RenderPassDepthAttachmentDescriptor* depthAttachment() const;
  void setDepthAttachment(const RenderPassDepthAttachmentDescriptor* depthAttachment);
  NS::UInteger imageblockSampleLength() const;
  void setImageblockSampleLength(NS::UInteger imageblockSampleLength);
  RasterizationRateMap* rasterizationRateMap() const;
  void setRasterizationRateMap(const RasterizationRateMap* rasterizationRateMap);
  NS::UInteger renderTargetArrayLength() const;
  void setRenderTargetArrayLength(NS::UInteger renderTargetArrayLength);
  NS::UInteger renderTargetHeight() const;
  void setRenderTargetHeight(NS::UInteger renderTargetHeight);
  NS::UInteger renderTargetWidth() const;
  void setRenderTargetWidth(NS::UInteger renderTargetWidth);
  RenderPassSampleBufferAttachmentDescriptorArray* sampleBufferAttachments() const;
  RenderPassStencilAttachmentDescriptor* stencilAttachment() const;
  void setStencilAttachment(const RenderPassStencilAttachmentDescriptor* stencilAttachment);
  bool supportColorAttachmentMapping() const;
  void setSupportColorAttachmentMapping(bool supportColorAttachmentMapping);
  NS::UInteger threadgroupMemoryLength() const;
  void setThreadgroupMemoryLength(NS::UInteger threadgroupMemoryLength);
  NS::UInteger tileHeight() const;
  void setTileHeight(NS::UInteger tileHeight);
  NS::UInteger tileWidth() const;
  void setTileWidth(NS::UInteger tileWidth);
  Buffer* visibilityResultBuffer() const;
  void setVisibilityResultBuffer(const Buffer* visibilityResultBuffer);
  VisibilityResultType visibilityResultType() const;
  void setVisibilityResultType(VisibilityResultType visibilityResultType);

  void setSamplePositions(const SamplePosition* positions, NS::UInteger count);
  NS::UInteger getSamplePositions(SamplePosition* positions, NS::UInteger count);
};

}  // namespace MTL
