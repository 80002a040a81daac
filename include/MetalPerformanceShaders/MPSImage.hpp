// Images with any number of feature channels, as layers of neural networks make and take them.
//
// An image's memory holds pixel after pixel, each with its channels side by side; one channel is stored as a red texel,
// two as red and green, more as a multiple of four. texture() is a view of the same memory: slice s shows channels 4s
// to 4s + 3.
#pragma once

#include <functional>

#include "MPSKernel.hpp"

namespace MPS {

class Image;

// Images that a kernel processes together.
using ImageBatch = NS::Array;

_MPS_ENUM(NS::UInteger, PurgeableState){
    PurgeableStateAllocationDeferred = 0,
    PurgeableStateKeepCurrent = MTL::PurgeableStateKeepCurrent,
    PurgeableStateNonVolatile = MTL::PurgeableStateNonVolatile,
    PurgeableStateVolatile = MTL::PurgeableStateVolatile,
    PurgeableStateEmpty = MTL::PurgeableStateEmpty,
};

// The order of numbers that are read from or written to an image.
_MPS_ENUM(NS::UInteger, DataLayout){
    DataLayoutHeightxWidthxFeatureChannels = 0,
    DataLayoutFeatureChannelsxHeightxWidth = 1,
};

struct ImageReadWriteParams {
  NS::UInteger featureChannelOffset;
  NS::UInteger numberOfFeatureChannelsToReadWrite;
};

class _MPS_EXPORT ImageDescriptor : public NS::Copying<ImageDescriptor> {
 public:
  static ImageDescriptor* imageDescriptor(ImageFeatureChannelFormat channelFormat, NS::UInteger width,
                                          NS::UInteger height, NS::UInteger featureChannels);
  static ImageDescriptor* imageDescriptor(ImageFeatureChannelFormat channelFormat, NS::UInteger width,
                                          NS::UInteger height, NS::UInteger featureChannels,
                                          NS::UInteger numberOfImages, MTL::TextureUsage usage);

  NS::UInteger width() const;
  void setWidth(NS::UInteger width);
  NS::UInteger height() const;
  void setHeight(NS::UInteger height);
  NS::UInteger featureChannels() const;
  void setFeatureChannels(NS::UInteger featureChannels);
  NS::UInteger numberOfImages() const;
  void setNumberOfImages(NS::UInteger numberOfImages);
  MTL::PixelFormat pixelFormat() const;
  ImageFeatureChannelFormat channelFormat() const;
  void setChannelFormat(ImageFeatureChannelFormat channelFormat);
  MTL::CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(MTL::CPUCacheMode cpuCacheMode);
  MTL::StorageMode storageMode() const;
  void setStorageMode(MTL::StorageMode storageMode);
  MTL::TextureUsage usage() const;
  void setUsage(MTL::TextureUsage usage);
};

// Makes the images that kernels answer. Derive from it to place them yourself; they must live as long as the command
// buffer, and are autoreleased.
class _MPS_EXPORT ImageAllocator : public NS::Referencing<ImageAllocator> {
 public:
  virtual Image* image(MTL::CommandBuffer* commandBuffer, ImageDescriptor* descriptor, Kernel* kernel) = 0;
  // One image after the other by default.
  virtual ImageBatch* imageBatch(MTL::CommandBuffer* commandBuffer, ImageDescriptor* descriptor, Kernel* kernel,
                                 NS::UInteger count);
};

class _MPS_EXPORT Image : public NS::Referencing<Image> {
 public:
  static ImageAllocator* defaultAllocator();

  static Image* alloc();
  // These answer null, with a line on stderr that says why, where the description makes no sense.
  Image* init(MTL::Device* device, const ImageDescriptor* imageDescriptor);
  Image* init(const Image* parent, NS::Range sliceRange, NS::UInteger featureChannels);
  Image* init(const MTL::Texture* texture, NS::UInteger featureChannels);

  MTL::Device* device() const;
  NS::UInteger width() const;
  NS::UInteger height() const;
  NS::UInteger featureChannels() const;
  NS::UInteger numberOfImages() const;
  MTL::TextureType textureType() const;
  MTL::PixelFormat pixelFormat() const;
  ImageFeatureChannelFormat featureChannelFormat() const;
  NS::UInteger precision() const;
  MTL::TextureUsage usage() const;
  // From a pixel to the next.
  size_t pixelSize() const;
  // Null, with a line on stderr, for several images of more than four channels: no texture has their strides.
  MTL::Texture* texture() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Image* parent() const;

  ImageBatch* batchRepresentation() const;
  ImageBatch* batchRepresentation(NS::Range subRange) const;
  Image* subImage(NS::Range featureChannelRange) const;
  NS::UInteger resourceSize() const;
  PurgeableState setPurgeableState(PurgeableState state);

  void readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, MTL::Region region,
                 ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex) const;
  void readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage,
                 MTL::Region region, ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex) const;
  void readBytes(void* dataBytes, DataLayout dataLayout, NS::UInteger imageIndex) const;
  void writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, MTL::Region region,
                  ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex);
  void writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage,
                  MTL::Region region, ImageReadWriteParams featureChannelInfo, NS::UInteger imageIndex);
  void writeBytes(const void* dataBytes, DataLayout dataLayout, NS::UInteger imageIndex);

  void synchronize(MTL::CommandBuffer* commandBuffer);
};

// Images that hold nothing beyond their command buffer, whose memory others use after the last read.
class _MPS_EXPORT TemporaryImage : public NS::Referencing<TemporaryImage, Image> {
 public:
  static ImageAllocator* defaultAllocator();
  static TemporaryImage* temporaryImage(MTL::CommandBuffer* commandBuffer, const ImageDescriptor* imageDescriptor);
  static void prefetchStorage(MTL::CommandBuffer* commandBuffer, const NS::Array* descriptorList);
  NS::UInteger readCount() const;
  void setReadCount(NS::UInteger readCount);
};

// Each different image of the batch once; the number of them.
_MPS_EXPORT NS::UInteger ImageBatchIncrementReadCount(const ImageBatch* batch, NS::Integer amount);
_MPS_EXPORT void ImageBatchSynchronize(const ImageBatch* batch, MTL::CommandBuffer* commandBuffer);
_MPS_EXPORT NS::UInteger ImageBatchResourceSize(const ImageBatch* batch);
// Stops when the function answers more than NS::IntegerMin; the last answer.
_MPS_EXPORT NS::Integer ImageBatchIterate(const ImageBatch* batch,
                                          const std::function<NS::Integer(Image* image, NS::UInteger index)>& iterator);

}  // namespace MPS
