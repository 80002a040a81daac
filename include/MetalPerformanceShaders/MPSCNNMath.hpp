// Arithmetic of two images, number by number: clamp(primaryScale * x op secondaryScale * y + bias, minimumValue,
// maximumValue).
//
// Strides are 1, or 0 where an image has one number for all along that direction (x, y, channels).
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

// What the forward pass leaves for its gradients: how its images were repeated.
class _MPS_EXPORT CNNArithmeticGradientState
    : public NS::Referencing<CNNArithmeticGradientState, NNBinaryGradientState> {};
using CNNArithmeticGradientStateBatch = NS::Array;

class _MPS_EXPORT CNNArithmetic : public NS::Copying<CNNArithmetic, CNNBinaryKernel> {
 public:
  float primaryScale() const;
  void setPrimaryScale(float scale);
  float secondaryScale() const;
  void setSecondaryScale(float scale);
  float bias() const;
  void setBias(float bias);
  NS::UInteger primaryStrideInFeatureChannels() const;
  void setPrimaryStrideInFeatureChannels(NS::UInteger stride);
  NS::UInteger secondaryStrideInFeatureChannels() const;
  void setSecondaryStrideInFeatureChannels(NS::UInteger stride);
  float minimumValue() const;
  void setMinimumValue(float value);
  float maximumValue() const;
  void setMaximumValue(float value);

  using CNNBinaryKernel::encode;
  using CNNBinaryKernel::encodeBatch;
  void encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
              const CNNArithmeticGradientState* destinationState, const Image* destinationImage);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                   const ImageBatch* secondaryImages, const CNNArithmeticGradientStateBatch* destinationStates,
                   const ImageBatch* destinationImages);
};

class _MPS_EXPORT CNNAdd : public NS::Copying<CNNAdd, CNNArithmetic> {
 public:
  static CNNAdd* alloc();
  CNNAdd* init(MTL::Device* device);
};
class _MPS_EXPORT CNNSubtract : public NS::Copying<CNNSubtract, CNNArithmetic> {
 public:
  static CNNSubtract* alloc();
  CNNSubtract* init(MTL::Device* device);
};
class _MPS_EXPORT CNNMultiply : public NS::Copying<CNNMultiply, CNNArithmetic> {
 public:
  static CNNMultiply* alloc();
  CNNMultiply* init(MTL::Device* device);
};
class _MPS_EXPORT CNNDivide : public NS::Copying<CNNDivide, CNNArithmetic> {
 public:
  static CNNDivide* alloc();
  CNNDivide* init(MTL::Device* device);
};

_MPS_OPTIONS(NS::UInteger, NNComparisonType){
    NNComparisonTypeEqual = 0,       NNComparisonTypeNotEqual = 1, NNComparisonTypeLess = 2,
    NNComparisonTypeLessOrEqual = 3, NNComparisonTypeGreater = 4,  NNComparisonTypeGreaterOrEqual = 5,
};

// 1 where the numbers compare so, and 0 elsewhere. Numbers are equal, and neither less nor greater, if they differ by
// no more than the threshold. Scales, bias and limits have no part in it.
class _MPS_EXPORT NNCompare : public NS::Copying<NNCompare, CNNArithmetic> {
 public:
  static NNCompare* alloc();
  NNCompare* init(MTL::Device* device);
  NNComparisonType comparisonType() const;
  void setComparisonType(NNComparisonType comparisonType);
  float threshold() const;
  void setThreshold(float threshold);
};

// The gradient of one of the two images, the primary or, with isSecondarySourceFilter, the secondary one:
// primaryScale * gradient for sums and differences, primaryScale * gradient * secondaryScale * (the other image) for
// products; summed along the directions in which the forward pass repeated the image, which is known from the state.
//
// sourceImage is the image whose gradient it is for sums and differences, and the other one for products. Scales are
// those of this kernel: set them to what the forward pass had. Limits that the forward pass set have no gradient.
class _MPS_EXPORT CNNArithmeticGradient : public NS::Copying<CNNArithmeticGradient, CNNGradientKernel> {
 public:
  float primaryScale() const;
  void setPrimaryScale(float scale);
  float secondaryScale() const;
  void setSecondaryScale(float scale);
  // Has no part in gradients.
  float bias() const;
  void setBias(float bias);
  NS::UInteger secondaryStrideInFeatureChannels() const;
  void setSecondaryStrideInFeatureChannels(NS::UInteger stride);
  float minimumValue() const;
  void setMinimumValue(float value);
  float maximumValue() const;
  void setMaximumValue(float value);
  bool isSecondarySourceFilter() const;
};

class _MPS_EXPORT CNNAddGradient : public NS::Copying<CNNAddGradient, CNNArithmeticGradient> {
 public:
  static CNNAddGradient* alloc();
  CNNAddGradient* init(MTL::Device* device, bool isSecondarySourceFilter);
};
// For the secondary image, primaryScale is -1 to begin with.
class _MPS_EXPORT CNNSubtractGradient : public NS::Copying<CNNSubtractGradient, CNNArithmeticGradient> {
 public:
  static CNNSubtractGradient* alloc();
  CNNSubtractGradient* init(MTL::Device* device, bool isSecondarySourceFilter);
};
class _MPS_EXPORT CNNMultiplyGradient : public NS::Copying<CNNMultiplyGradient, CNNArithmeticGradient> {
 public:
  static CNNMultiplyGradient* alloc();
  CNNMultiplyGradient* init(MTL::Device* device, bool isSecondarySourceFilter);
};

}  // namespace MPS
