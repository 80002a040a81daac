// The numbers of images in another shape, and with more around them.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

// The same numbers in the same order, [y][x][channel], for another width, height and number of channels.
class _MPS_EXPORT NNReshape : public NS::Copying<NNReshape, CNNKernel> {
 public:
  static NNReshape* alloc();
  NNReshape* init(MTL::Device* device);

  using CNNKernel::encode;
  using CNNKernel::encodeBatch;
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, NS::UInteger reshapedWidth,
                NS::UInteger reshapedHeight, NS::UInteger reshapedFeatureChannels);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, State** destinationState,
                bool destinationStateIsTemporary, NS::UInteger reshapedWidth, NS::UInteger reshapedHeight,
                NS::UInteger reshapedFeatureChannels);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages, NS::UInteger reshapedWidth,
                          NS::UInteger reshapedHeight, NS::UInteger reshapedFeatureChannels);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                          StateBatch** destinationStates, bool destinationStateIsTemporary, NS::UInteger reshapedWidth,
                          NS::UInteger reshapedHeight, NS::UInteger reshapedFeatureChannels);
};

class _MPS_EXPORT NNReshapeGradient : public NS::Copying<NNReshapeGradient, CNNGradientKernel> {
 public:
  static NNReshapeGradient* alloc();
  NNReshapeGradient* init(MTL::Device* device);
};

// Numbers around images, by edgeMode, which may be ImageEdgeModeConstant here. An encode that makes its destination
// adds paddingSizeBefore and paddingSizeAfter; one that is given it pads x and y by offset and clipRect, and channels
// by the two sizes.
class _MPS_EXPORT NNPad : public NS::Copying<NNPad, CNNKernel> {
 public:
  static NNPad* alloc();
  NNPad* init(MTL::Device* device);
  // `fillValueArray` has a float for each channel that is written, and takes the place of fillValue.
  NNPad* init(MTL::Device* device, ImageCoordinate paddingSizeBefore, ImageCoordinate paddingSizeAfter,
              const NS::Data* fillValueArray = nullptr);

  ImageCoordinate paddingSizeBefore() const;
  void setPaddingSizeBefore(ImageCoordinate paddingSizeBefore);
  ImageCoordinate paddingSizeAfter() const;
  void setPaddingSizeAfter(ImageCoordinate paddingSizeAfter);
  float fillValue() const;
  void setFillValue(float fillValue);
};

// Each number of the source gets the sum of the gradients of all places that show it.
class _MPS_EXPORT NNPadGradient : public NS::Copying<NNPadGradient, CNNGradientKernel> {
 public:
  static NNPadGradient* alloc();
  NNPadGradient* init(MTL::Device* device);
};

}  // namespace MPS
