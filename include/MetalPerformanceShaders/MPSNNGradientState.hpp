// What a gradient kernel needs to know of the forward pass: how the kernel was set when it was encoded.
#pragma once

#include "MPSState.hpp"

namespace MPS {

class _MPS_EXPORT NNGradientState : public NS::Referencing<NNGradientState, State> {
 public:
  // Of the image that the forward pass took.
  NS::UInteger sourceWidth() const;
  NS::UInteger sourceHeight() const;
};
using NNGradientStateBatch = NS::Array;

class _MPS_EXPORT NNBinaryGradientState : public NS::Referencing<NNBinaryGradientState, State> {};
using NNBinaryGradientStateBatch = NS::Array;

}  // namespace MPS
