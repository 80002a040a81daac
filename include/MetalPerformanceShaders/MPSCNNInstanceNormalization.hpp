// Instance normalization: y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and variance of each
// channel of each source image.
#pragma once

#include "MPSCNNBatchNormalization.hpp"

namespace MPS {

class CNNInstanceNormalization;

// The program's numbers, floats for each channel. Derive from it.
class _MPS_EXPORT CNNInstanceNormalizationDataSource : public NS::Referencing<CNNInstanceNormalizationDataSource> {
 public:
  virtual NS::UInteger numberOfFeatureChannels() = 0;
  virtual float* gamma() = 0;  // null: 1
  virtual float* beta() = 0;   // null: 0
  virtual NS::String* label() { return nullptr; }
  virtual float epsilon() { return 0x1p-126f; }
};

// Each image of a batch has one. Where images next to each other are given the same state, it gets the sums of their
// gradients.
class _MPS_EXPORT CNNInstanceNormalizationGradientState
    : public NS::Referencing<CNNInstanceNormalizationGradientState, NNGradientState> {
 public:
  CNNInstanceNormalization* instanceNormalization() const;
  MTL::Buffer* gamma() const;
  MTL::Buffer* beta() const;
  // Written by CNNInstanceNormalizationGradient.
  MTL::Buffer* gradientForGamma() const;
  MTL::Buffer* gradientForBeta() const;
};
using CNNInstanceNormalizationGradientStateBatch = NS::Array;

class _MPS_EXPORT CNNInstanceNormalization : public NS::Copying<CNNInstanceNormalization, CNNKernel> {
 public:
  static CNNInstanceNormalization* alloc();
  CNNInstanceNormalization* init(MTL::Device* device, CNNInstanceNormalizationDataSource* dataSource);

  float epsilon() const;
  void setEpsilon(float epsilon);
  CNNInstanceNormalizationDataSource* dataSource() const;

  CNNInstanceNormalizationGradientState* resultState(const Image* sourceImage, const NS::Array* sourceStates,
                                                     const Image* destinationImage);
  CNNInstanceNormalizationGradientState* temporaryResultState(MTL::CommandBuffer* commandBuffer,
                                                              const Image* sourceImage, const NS::Array* sourceStates,
                                                              const Image* destinationImage);

  void reloadGammaAndBetaFromDataSource();
  void reloadGammaAndBeta(MTL::CommandBuffer* commandBuffer,
                          const CNNNormalizationGammaAndBetaState* gammaAndBetaState);
};

class _MPS_EXPORT CNNInstanceNormalizationGradient
    : public NS::Copying<CNNInstanceNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNInstanceNormalizationGradient* alloc();
  CNNInstanceNormalizationGradient* init(MTL::Device* device);
};

}  // namespace MPS
