// What a kernel leaves for a later one besides images: weights, gradients, statistics, what a gradient needs to know.
#pragma once

#include "MPSImage.hpp"

namespace MPS {

class State;

// States of the images of a batch. One that is shared by the whole batch is in it several times.
using StateBatch = NS::Array;

_MPS_ENUM(NS::UInteger, StateResourceType){
    StateResourceTypeNone = 0,
    StateResourceTypeBuffer = 1,
    StateResourceTypeTexture = 2,
};

struct StateTextureInfo {
  NS::UInteger width, height, depth, arrayLength;
  MTL::PixelFormat pixelFormat;
  MTL::TextureType textureType;
  MTL::TextureUsage usage;
};

class _MPS_EXPORT StateResourceList : public NS::Referencing<StateResourceList> {
 public:
  static StateResourceList* resourceList();
  static StateResourceList* alloc();
  StateResourceList* init();
  void appendTexture(const MTL::TextureDescriptor* descriptor);
  void appendBuffer(NS::UInteger size);
};

class _MPS_EXPORT State : public NS::Referencing<State> {
 public:
  static State* temporaryState(MTL::CommandBuffer* commandBuffer);
  static State* temporaryState(MTL::CommandBuffer* commandBuffer, size_t bufferSize);
  static State* temporaryState(MTL::CommandBuffer* commandBuffer, const MTL::TextureDescriptor* descriptor);
  static State* temporaryState(MTL::CommandBuffer* commandBuffer, const StateResourceList* resourceList);

  static State* alloc();
  State* init(MTL::Device* device, size_t bufferSize);
  State* init(MTL::Device* device, const MTL::TextureDescriptor* descriptor);
  State* init(MTL::Device* device, const StateResourceList* resourceList);
  State* init(const MTL::Resource* resource);
  State* init(const NS::Array* resources);

  NS::UInteger resourceCount() const;
  MTL::Resource* resource(NS::UInteger index, bool allocateMemory) const;
  NS::UInteger bufferSize(NS::UInteger index) const;
  StateTextureInfo textureInfo(NS::UInteger index) const;
  StateResourceType resourceType(NS::UInteger index) const;

  NS::UInteger readCount() const;
  void setReadCount(NS::UInteger readCount);
  bool isTemporary() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  void synchronize(MTL::CommandBuffer* commandBuffer);
  NS::UInteger resourceSize() const;
  ImageDescriptor* destinationImageDescriptor(const NS::Array* sourceImages, const NS::Array* sourceStates,
                                              const Kernel* kernel, ImageDescriptor* suggestedDescriptor) const;
};

// Each different state of the batch once; the number of them.
_MPS_EXPORT NS::UInteger StateBatchIncrementReadCount(const StateBatch* batch, NS::Integer amount);
_MPS_EXPORT void StateBatchSynchronize(const StateBatch* batch, MTL::CommandBuffer* commandBuffer);
_MPS_EXPORT NS::UInteger StateBatchResourceSize(const StateBatch* batch);

}  // namespace MPS
