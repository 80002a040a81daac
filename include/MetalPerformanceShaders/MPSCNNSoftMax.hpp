// The softmax of the channels of each pixel, and its logarithm.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT CNNSoftMax : public NS::Copying<CNNSoftMax, CNNKernel> {
 public:
  static CNNSoftMax* alloc();
  CNNSoftMax* init(MTL::Device* device);
};

class _MPS_EXPORT CNNLogSoftMax : public NS::Copying<CNNLogSoftMax, CNNKernel> {
 public:
  static CNNLogSoftMax* alloc();
  CNNLogSoftMax* init(MTL::Device* device);
};

// The gradients: here sourceImage is the result of the forward pass.
class _MPS_EXPORT CNNSoftMaxGradient : public NS::Copying<CNNSoftMaxGradient, CNNGradientKernel> {
 public:
  static CNNSoftMaxGradient* alloc();
  CNNSoftMaxGradient* init(MTL::Device* device);
};

class _MPS_EXPORT CNNLogSoftMaxGradient : public NS::Copying<CNNLogSoftMaxGradient, CNNGradientKernel> {
 public:
  static CNNLogSoftMaxGradient* alloc();
  CNNLogSoftMaxGradient* init(MTL::Device* device);
};

}  // namespace MPS
