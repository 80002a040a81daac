// Group normalization: y = gamma * (x - mean) / sqrt(variance + epsilon) + beta, with mean and variance of groups of
// neighbouring channels of each source image. With one group, and images of one pixel, it is layer normalization.
#pragma once

#include "MPSCNNBatchNormalization.hpp"

namespace MPS {

class CNNGroupNormalization;

// The program's numbers, floats for each channel. Derive from it.
class _MPS_EXPORT CNNGroupNormalizationDataSource : public NS::Referencing<CNNGroupNormalizationDataSource> {
 public:
  virtual NS::UInteger numberOfFeatureChannels() = 0;
  virtual NS::UInteger numberOfGroups() = 0;
  virtual float* gamma() = 0;  // null: 1
  virtual float* beta() = 0;   // null: 0
  virtual NS::String* label() { return nullptr; }
  virtual float epsilon() { return 0x1p-126f; }
};

// Each image of a batch has one. Where images next to each other are given the same state, it gets the sums of their
// gradients.
class _MPS_EXPORT CNNGroupNormalizationGradientState
    : public NS::Referencing<CNNGroupNormalizationGradientState, NNGradientState> {
 public:
  CNNGroupNormalization* groupNormalization() const;
  MTL::Buffer* gamma() const;
  MTL::Buffer* beta() const;
  // Written by CNNGroupNormalizationGradient.
  MTL::Buffer* gradientForGamma() const;
  MTL::Buffer* gradientForBeta() const;
};
using CNNGroupNormalizationGradientStateBatch = NS::Array;

class _MPS_EXPORT CNNGroupNormalization : public NS::Copying<CNNGroupNormalization, CNNKernel> {
 public:
  static CNNGroupNormalization* alloc();
  CNNGroupNormalization* init(MTL::Device* device, CNNGroupNormalizationDataSource* dataSource);

  float epsilon() const;
  void setEpsilon(float epsilon);
  CNNGroupNormalizationDataSource* dataSource() const;

  CNNGroupNormalizationGradientState* resultState(const Image* sourceImage, const NS::Array* sourceStates,
                                                  const Image* destinationImage);
  CNNGroupNormalizationGradientState* temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                                                           const NS::Array* sourceStates,
                                                           const Image* destinationImage);

  void reloadGammaAndBetaFromDataSource();
  void reloadGammaAndBeta(MTL::CommandBuffer* commandBuffer,
                          const CNNNormalizationGammaAndBetaState* gammaAndBetaState);
};

class _MPS_EXPORT CNNGroupNormalizationGradient : public NS::Copying<CNNGroupNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNGroupNormalizationGradient* alloc();
  CNNGroupNormalizationGradient* init(MTL::Device* device);
};

}  // namespace MPS
