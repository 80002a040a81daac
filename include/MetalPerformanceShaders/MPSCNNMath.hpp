// Arithmetic of two images, number by number: clamp(primaryScale * x op secondaryScale * y + bias, minimumValue,
// maximumValue).
//
// Strides are 1, or 0 where an image has one number for all along that direction (x, y, channels).
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

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

}  // namespace MPS
