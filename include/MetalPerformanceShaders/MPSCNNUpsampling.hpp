// Upsampling: images become larger by whole factors.
//
// Pixel x of the result is at offset.x + x / scaleFactorX in the source; with alignCorners at x * (n - 1) /
// (n * scaleFactorX - 1), where n is the source's width, so that the corners of both have the same numbers. The nearest
// kind takes the pixel at or before that place, the bilinear one interpolates its neighbours. Outside, the source goes
// on with the pixels at its edge, whatever edgeMode says.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT CNNUpsampling : public NS::Copying<CNNUpsampling, CNNKernel> {
 public:
  double scaleFactorX() const;
  double scaleFactorY() const;
  bool alignCorners() const;
};

class _MPS_EXPORT CNNUpsamplingNearest : public NS::Copying<CNNUpsamplingNearest, CNNUpsampling> {
 public:
  static CNNUpsamplingNearest* alloc();
  CNNUpsamplingNearest* init(MTL::Device* device, NS::UInteger integerScaleFactorX, NS::UInteger integerScaleFactorY);
};

class _MPS_EXPORT CNNUpsamplingBilinear : public NS::Copying<CNNUpsamplingBilinear, CNNUpsampling> {
 public:
  static CNNUpsamplingBilinear* alloc();
  CNNUpsamplingBilinear* init(MTL::Device* device, NS::UInteger integerScaleFactorX, NS::UInteger integerScaleFactorY,
                              bool alignCorners = false);
};

// Each source pixel gets the gradients of the pixels that were made of it, by its share in them. Whether corners were
// aligned is taken from the state.
class _MPS_EXPORT CNNUpsamplingGradient : public NS::Copying<CNNUpsamplingGradient, CNNGradientKernel> {
 public:
  double scaleFactorX() const;
  double scaleFactorY() const;
};

class _MPS_EXPORT CNNUpsamplingNearestGradient
    : public NS::Copying<CNNUpsamplingNearestGradient, CNNUpsamplingGradient> {
 public:
  static CNNUpsamplingNearestGradient* alloc();
  CNNUpsamplingNearestGradient* init(MTL::Device* device, NS::UInteger integerScaleFactorX,
                                     NS::UInteger integerScaleFactorY);
};

class _MPS_EXPORT CNNUpsamplingBilinearGradient
    : public NS::Copying<CNNUpsamplingBilinearGradient, CNNUpsamplingGradient> {
 public:
  static CNNUpsamplingBilinearGradient* alloc();
  CNNUpsamplingBilinearGradient* init(MTL::Device* device, NS::UInteger integerScaleFactorX,
                                      NS::UInteger integerScaleFactorY);
};

}  // namespace MPS
