// Dropout: numbers are kept with a probability, and divided by it, or become 0.
//
// Each encode drops others: the seed says which sequence of them. Where maskStrideInPixels is 0, numbers along that
// direction (x, y, channels) are kept or dropped together.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

class _MPS_EXPORT CNNDropoutGradientState : public NS::Referencing<CNNDropoutGradientState, NNGradientState> {
 public:
  // What was kept, when the forward pass is done: a byte, 1 or 0, for each number, [y][x][channel]; directions whose
  // stride is 0 have one.
  NS::Data* maskData() const;
};
using CNNDropoutGradientStateBatch = NS::Array;

class _MPS_EXPORT CNNDropout : public NS::Copying<CNNDropout, CNNKernel> {
 public:
  static CNNDropout* alloc();
  CNNDropout* init(MTL::Device* device, float keepProbability, NS::UInteger seed, MTL::Size maskStrideInPixels);

  float keepProbability() const;
  NS::UInteger seed() const;
  MTL::Size maskStrideInPixels() const;
};

// What was kept is taken from the state.
class _MPS_EXPORT CNNDropoutGradient : public NS::Copying<CNNDropoutGradient, CNNGradientKernel> {
 public:
  static CNNDropoutGradient* alloc();
  CNNDropoutGradient* init(MTL::Device* device, float keepProbability, NS::UInteger seed, MTL::Size maskStrideInPixels);

  float keepProbability() const;
  NS::UInteger seed() const;
  MTL::Size maskStrideInPixels() const;
};

}  // namespace MPS
