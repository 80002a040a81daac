// Resizing: images of any size become resizeWidth x resizeHeight pixels by bilinear interpolation.
//
// Pixel x of the result is at offset.x + x * n / resizeWidth in a source that is n pixels wide; with alignCorners at
// x * (n - 1) / (resizeWidth - 1), so that the corners of both have the same numbers. Outside, the source goes on with
// the pixels at its edge.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT NNResizeBilinear : public NS::Copying<NNResizeBilinear, CNNKernel> {
 public:
  static NNResizeBilinear* alloc();
  NNResizeBilinear* init(MTL::Device* device, NS::UInteger resizeWidth, NS::UInteger resizeHeight, bool alignCorners);

  NS::UInteger resizeWidth() const;
  NS::UInteger resizeHeight() const;
  bool alignCorners() const;
};

}  // namespace MPS
