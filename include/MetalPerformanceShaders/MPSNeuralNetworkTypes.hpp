// Types that the layers of neural networks share, and padding policies: how large a layer's result is, and where in the
// source it begins.
#pragma once

#include "MPSState.hpp"

namespace MPS {

_MPS_ENUM(NS::UInteger, CNNConvolutionFlags){
    CNNConvolutionFlagsNone = 0,
};

_MPS_OPTIONS(NS::UInteger, NNConvolutionAccumulatorPrecisionOption){
    NNConvolutionAccumulatorPrecisionOptionHalf = 0,
    NNConvolutionAccumulatorPrecisionOptionFloat = 1 << 0,
};

_MPS_OPTIONS(NS::UInteger, NNTrainingStyle){
    NNTrainingStyleUpdateDeviceNone = 0,
    NNTrainingStyleUpdateDeviceCPU = 1,
    NNTrainingStyleUpdateDeviceGPU = 2,
};

_MPS_OPTIONS(NS::UInteger, CNNBatchNormalizationFlags){
    CNNBatchNormalizationFlagsDefault = 0,
    CNNBatchNormalizationFlagsCalculateStatisticsAutomatic = CNNBatchNormalizationFlagsDefault,
    CNNBatchNormalizationFlagsCalculateStatisticsAlways = 1,
    CNNBatchNormalizationFlagsCalculateStatisticsNever = 2,
    CNNBatchNormalizationFlagsCalculateStatisticsMask = 3,
};

_MPS_OPTIONS(NS::UInteger, NNPaddingMethod){
    NNPaddingMethodAlignCentered = 0,
    NNPaddingMethodAlignTopLeft = 1,
    NNPaddingMethodAlignBottomRight = 2,
    NNPaddingMethodAlign_reserved = 3,
    NNPaddingMethodAlignMask = NNPaddingMethodAlign_reserved,

    NNPaddingMethodAddRemainderToTopLeft = 0 << 2,
    NNPaddingMethodAddRemainderToTopRight = 1 << 2,
    NNPaddingMethodAddRemainderToBottomLeft = 2 << 2,
    NNPaddingMethodAddRemainderToBottomRight = 3 << 2,
    NNPaddingMethodAddRemainderToMask = NNPaddingMethodAddRemainderToBottomRight,

    NNPaddingMethodSizeValidOnly = 0,
    NNPaddingMethodSizeSame = 1 << 4,
    NNPaddingMethodSizeFull = 2 << 4,
    NNPaddingMethodSize_reserved = 3 << 4,
    NNPaddingMethodCustomWhitelistForNodeFusion = 1 << 13,
    NNPaddingMethodCustom = 1 << 14,
    NNPaddingMethodSizeMask = 0x7f0,
    NNPaddingMethodExcludeEdges = 1 << 15,
};

// A padding policy. Derive from it for one of your own; it is asked for the descriptor where its method has the bit
// NNPaddingMethodCustom, and may set properties of the kernel, such as its offset.
class _MPS_EXPORT NNPadding : public NS::Referencing<NNPadding> {
 public:
  virtual NNPaddingMethod paddingMethod() const = 0;
  virtual NS::String* label() const;
  // `kernel` has its offset set already; answers suggestedDescriptor by default.
  virtual ImageDescriptor* destinationImageDescriptor(const NS::Array* sourceImages, const NS::Array* sourceStates,
                                                      Kernel* kernel, ImageDescriptor* suggestedDescriptor);
  // The policy for the gradient pass; null by default, which stands for the usual one.
  virtual NNPadding* inverse();
};

class _MPS_EXPORT NNDefaultPadding : public NS::Referencing<NNDefaultPadding, NNPadding> {
 public:
  static NNDefaultPadding* padding(NNPaddingMethod method);
  // Same size, centered; windows are averaged over what is inside of the image.
  static NNDefaultPadding* paddingForTensorflowAveragePooling();
  static NNDefaultPadding* paddingForTensorflowAveragePoolingValidOnly();
};

}  // namespace MPS
