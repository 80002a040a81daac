// A copy of a part of an image: from `offset` and sourceFeatureChannelOffset on, sourceFeatureChannelMaxCount channels,
// as many pixels as clipRect has.
//
// Images are concatenated by kernels that write the channels of one image, each from its
// destinationFeatureChannelOffset on; this is the kernel for images that are there already.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT NNSlice : public NS::Copying<NNSlice, CNNKernel> {
 public:
  static NNSlice* alloc();
  NNSlice* init(MTL::Device* device);
};

}  // namespace MPS
