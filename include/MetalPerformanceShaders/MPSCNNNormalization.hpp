// Normalization by what is near: numbers are divided by the energy or the contrast of a window around them, which
// reaches from x - size / 2 to x + (size - 1) / 2. Outside of the image are zeros, or what edgeMode says.
//
// Gradients take alpha, beta and so on from their own properties, which must be those of the forward pass; and that had
// zeros outside.
#pragma once

#include "MPSCNNKernel.hpp"

namespace MPS {

// x / (delta + alpha * (mean of squares))^beta, with a window of pixels in each channel.
class _MPS_EXPORT CNNSpatialNormalization : public NS::Copying<CNNSpatialNormalization, CNNKernel> {
 public:
  static CNNSpatialNormalization* alloc();
  CNNSpatialNormalization* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight);

  float alpha() const;  // 1 by default
  void setAlpha(float alpha);
  float beta() const;  // 5
  void setBeta(float beta);
  float delta() const;  // 1
  void setDelta(float delta);
};

class _MPS_EXPORT CNNSpatialNormalizationGradient
    : public NS::Copying<CNNSpatialNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNSpatialNormalizationGradient* alloc();
  CNNSpatialNormalizationGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight);

  float alpha() const;
  void setAlpha(float alpha);
  float beta() const;
  void setBeta(float beta);
  float delta() const;
  void setDelta(float delta);
};

// The same with a window of channels at each pixel.
class _MPS_EXPORT CNNCrossChannelNormalization : public NS::Copying<CNNCrossChannelNormalization, CNNKernel> {
 public:
  static CNNCrossChannelNormalization* alloc();
  CNNCrossChannelNormalization* init(MTL::Device* device, NS::UInteger kernelSize);

  float alpha() const;  // 1 by default
  void setAlpha(float alpha);
  float beta() const;  // 5
  void setBeta(float beta);
  float delta() const;  // 1
  void setDelta(float delta);
  NS::UInteger kernelSize() const;
};

class _MPS_EXPORT CNNCrossChannelNormalizationGradient
    : public NS::Copying<CNNCrossChannelNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNCrossChannelNormalizationGradient* alloc();
  CNNCrossChannelNormalizationGradient* init(MTL::Device* device, NS::UInteger kernelSize);

  float alpha() const;
  void setAlpha(float alpha);
  float beta() const;
  void setBeta(float beta);
  float delta() const;
  void setDelta(float delta);
  NS::UInteger kernelSize() const;
};

// pm + ps * (x - p0 * mean) / (delta + alpha * variance)^beta, with a window of pixels in each channel.
class _MPS_EXPORT CNNLocalContrastNormalization : public NS::Copying<CNNLocalContrastNormalization, CNNKernel> {
 public:
  static CNNLocalContrastNormalization* alloc();
  CNNLocalContrastNormalization* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight);

  float alpha() const;  // 0 by default
  void setAlpha(float alpha);
  float beta() const;  // 0.5
  void setBeta(float beta);
  float delta() const;  // 1 / 1024
  void setDelta(float delta);
  float p0() const;  // 1
  void setP0(float p0);
  float pm() const;  // 0
  void setPm(float pm);
  float ps() const;  // 1
  void setPs(float ps);
};

class _MPS_EXPORT CNNLocalContrastNormalizationGradient
    : public NS::Copying<CNNLocalContrastNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNLocalContrastNormalizationGradient* alloc();
  CNNLocalContrastNormalizationGradient* init(MTL::Device* device, NS::UInteger kernelWidth, NS::UInteger kernelHeight);

  float alpha() const;
  void setAlpha(float alpha);
  float beta() const;
  void setBeta(float beta);
  float delta() const;
  void setDelta(float delta);
  float p0() const;
  void setP0(float p0);
  float pm() const;
  void setPm(float pm);
  float ps() const;
  void setPs(float ps);
};

}  // namespace MPS
