// A run of device memory without a format.
#pragma once

#include "../Foundation/Foundation.hpp"
#include "MTLDefines.hpp"
#include "MTLGPUAddress.hpp"
#include "MTLResource.hpp"

namespace MTL {

class Device;
class Tensor;
class TensorDescriptor;
class Texture;
class TextureDescriptor;

class _MTL_EXPORT Buffer : public NS::Referencing<Buffer, Resource> {
 public:
  GPUAddress gpuAddress() const;
  NS::UInteger length() const;
  Buffer* remoteStorageBuffer() const;
  BufferSparseTier sparseBufferTier() const;

  Buffer* newRemoteBufferViewForDevice(const Device* device);
  Tensor* newTensor(const TensorDescriptor* descriptor, NS::UInteger offset, NS::Error** error);
  Texture* newTexture(const TextureDescriptor* descriptor, NS::UInteger offset, NS::UInteger bytesPerRow);

  void removeAllDebugMarkers();
  void addDebugMarker(const NS::String* marker, NS::Range range);

  void* contents();
  void didModifyRange(NS::Range range);
};

}  // namespace MTL
