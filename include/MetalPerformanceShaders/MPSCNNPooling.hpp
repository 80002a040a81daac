// Pooling: each result is the largest, the mean or the Euclidean length of the numbers in a window of its channel.
//
// The window of destination pixel (x, y) has its center at (offset.x + x * strideInPixelsX, offset.y + y *
// strideInPixelsY); even ones reach one pixel further to the left and up.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT CNNPooling : public NS::Copying<CNNPooling, CNNKernel> {};

class _MPS_EXPORT CNNPoolingMax : public NS::Copying<CNNPoolingMax, CNNPooling> {
 public:
  static CNNPoolingMax* alloc();
  CNNPoolingMax* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                      NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
};

// With edge mode zero, zeros outside of the image count. With clamp, windows shrink to the image and the zeros around
// it that zeroPadSizeX and Y say.
class _MPS_EXPORT CNNPoolingAverage : public NS::Copying<CNNPoolingAverage, CNNPooling> {
 public:
  static CNNPoolingAverage* alloc();
  CNNPoolingAverage* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                          NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
  NS::UInteger zeroPadSizeX() const;
  void setZeroPadSizeX(NS::UInteger size);
  NS::UInteger zeroPadSizeY() const;
  void setZeroPadSizeY(NS::UInteger size);
};

// The root of the sum of squares.
class _MPS_EXPORT CNNPoolingL2Norm : public NS::Copying<CNNPoolingL2Norm, CNNPooling> {
 public:
  static CNNPoolingL2Norm* alloc();
  CNNPoolingL2Norm* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                         NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
};

class _MPS_EXPORT CNNDilatedPoolingMax : public NS::Copying<CNNDilatedPoolingMax, CNNPooling> {
 public:
  static CNNDilatedPoolingMax* alloc();
  CNNDilatedPoolingMax* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                             NS::UInteger dilationRateX, NS::UInteger dilationRateY, NS::UInteger strideInPixelsX,
                             NS::UInteger strideInPixelsY);
};

// The gradients. Of several largest numbers in a window, the first, row by row, gets the gradient.
class _MPS_EXPORT CNNPoolingGradient : public NS::Copying<CNNPoolingGradient, CNNGradientKernel> {};

class _MPS_EXPORT CNNPoolingMaxGradient : public NS::Copying<CNNPoolingMaxGradient, CNNPoolingGradient> {
 public:
  static CNNPoolingMaxGradient* alloc();
  CNNPoolingMaxGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                              NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
};

class _MPS_EXPORT CNNPoolingAverageGradient : public NS::Copying<CNNPoolingAverageGradient, CNNPoolingGradient> {
 public:
  static CNNPoolingAverageGradient* alloc();
  CNNPoolingAverageGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                                  NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
};

class _MPS_EXPORT CNNPoolingL2NormGradient : public NS::Copying<CNNPoolingL2NormGradient, CNNPoolingGradient> {
 public:
  static CNNPoolingL2NormGradient* alloc();
  CNNPoolingL2NormGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                                 NS::UInteger strideInPixelsX = 1, NS::UInteger strideInPixelsY = 1);
};

class _MPS_EXPORT CNNDilatedPoolingMaxGradient : public NS::Copying<CNNDilatedPoolingMaxGradient, CNNPoolingGradient> {
 public:
  static CNNDilatedPoolingMaxGradient* alloc();
  CNNDilatedPoolingMaxGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                                     NS::UInteger dilationRateX, NS::UInteger dilationRateY,
                                     NS::UInteger strideInPixelsX, NS::UInteger strideInPixelsY);
};

}  // namespace MPS
