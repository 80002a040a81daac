// Batch normalization: y = neuron(gamma * (x - mean) / sqrt(variance + epsilon) + beta), with numbers for each channel.
//
// For inference, encode a CNNBatchNormalization alone: mean and variance are the data source's. For training, ask it
// for a state (resultState), with which CNNBatchNormalizationStatistics finds mean and variance of the batch, then
// CNNBatchNormalization uses them; on the way back CNNBatchNormalizationStatisticsGradient finds the gradients of gamma
// and beta, then CNNBatchNormalizationGradient that of the source.
#pragma once

#include "MPSCNNKernel.hpp"
#include "MPSCNNNeuron.hpp"

namespace MPS {

class CNNBatchNormalization;
class CNNBatchNormalizationState;

// Floats, one for each channel.
class _MPS_EXPORT CNNNormalizationGammaAndBetaState : public NS::Referencing<CNNNormalizationGammaAndBetaState, State> {
 public:
  static CNNNormalizationGammaAndBetaState* temporaryState(MTL::CommandBuffer* commandBuffer,
                                                           NS::UInteger numberOfFeatureChannels);
  static CNNNormalizationGammaAndBetaState* alloc();
  CNNNormalizationGammaAndBetaState* init(const MTL::Buffer* gamma, const MTL::Buffer* beta);
  MTL::Buffer* gamma() const;
  MTL::Buffer* beta() const;
};

class _MPS_EXPORT CNNNormalizationMeanAndVarianceState
    : public NS::Referencing<CNNNormalizationMeanAndVarianceState, State> {
 public:
  static CNNNormalizationMeanAndVarianceState* temporaryState(MTL::CommandBuffer* commandBuffer,
                                                              NS::UInteger numberOfFeatureChannels);
  static CNNNormalizationMeanAndVarianceState* alloc();
  CNNNormalizationMeanAndVarianceState* init(const MTL::Buffer* mean, const MTL::Buffer* variance);
  MTL::Buffer* mean() const;
  MTL::Buffer* variance() const;
};

// The program's numbers, floats for each channel. Derive from it.
class _MPS_EXPORT CNNBatchNormalizationDataSource : public NS::Referencing<CNNBatchNormalizationDataSource> {
 public:
  virtual NS::UInteger numberOfFeatureChannels() = 0;
  virtual float* gamma() = 0;     // null: 1
  virtual float* beta() = 0;      // null: 0
  virtual float* mean() = 0;      // null: 0
  virtual float* variance() = 0;  // null: 1
  virtual bool load() = 0;
  virtual void purge() = 0;
  virtual NS::String* label() { return nullptr; }
  virtual float epsilon() { return 0x1p-10f; }
};

class _MPS_EXPORT CNNBatchNormalizationState : public NS::Referencing<CNNBatchNormalizationState, NNGradientState> {
 public:
  CNNBatchNormalization* batchNormalization() const;
  MTL::Buffer* gamma() const;
  MTL::Buffer* beta() const;
  // Of the batch, when statistics were encoded, and the data source's before.
  MTL::Buffer* mean() const;
  MTL::Buffer* variance() const;
  MTL::Buffer* gradientForGamma() const;
  MTL::Buffer* gradientForBeta() const;
  // Forgets statistics.
  void reset();
};

class _MPS_EXPORT CNNBatchNormalization : public NS::Copying<CNNBatchNormalization, CNNKernel> {
 public:
  static CNNBatchNormalization* alloc();
  CNNBatchNormalization* init(MTL::Device* device, CNNBatchNormalizationDataSource* dataSource,
                              const NNNeuronDescriptor* fusedNeuronDescriptor = nullptr);

  NS::UInteger numberOfFeatureChannels() const;
  float epsilon() const;
  void setEpsilon(float epsilon);
  CNNBatchNormalizationDataSource* dataSource() const;

  using CNNKernel::encode;
  using CNNKernel::encodeBatch;
  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
              CNNBatchNormalizationState* batchNormalizationState, const Image* destinationImage);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                   CNNBatchNormalizationState* batchNormalizationState, const ImageBatch* destinationImages);
  CNNBatchNormalizationState* resultState(const Image* sourceImage, const NS::Array* sourceStates,
                                          const Image* destinationImage);
  CNNBatchNormalizationState* temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                                                   const NS::Array* sourceStates, const Image* destinationImage);

  void reloadGammaAndBetaFromDataSource();
  void reloadMeanAndVarianceFromDataSource();
  void reloadGammaAndBeta(MTL::CommandBuffer* commandBuffer,
                          const CNNNormalizationGammaAndBetaState* gammaAndBetaState);
  void reloadMeanAndVariance(MTL::CommandBuffer* commandBuffer,
                             const CNNNormalizationMeanAndVarianceState* meanAndVarianceState);
};

// Mean and variance of each channel over all pixels of a batch.
class _MPS_EXPORT CNNBatchNormalizationStatistics : public NS::Copying<CNNBatchNormalizationStatistics, CNNKernel> {
 public:
  static CNNBatchNormalizationStatistics* alloc();
  CNNBatchNormalizationStatistics* init(MTL::Device* device);

  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                   CNNBatchNormalizationState* batchNormalizationState);
};

// The gradients of gamma and beta.
class _MPS_EXPORT CNNBatchNormalizationStatisticsGradient
    : public NS::Copying<CNNBatchNormalizationStatisticsGradient, CNNGradientKernel> {
 public:
  static CNNBatchNormalizationStatisticsGradient* alloc();
  CNNBatchNormalizationStatisticsGradient* init(MTL::Device* device,
                                                const NNNeuronDescriptor* fusedNeuronDescriptor = nullptr);

  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients, const ImageBatch* sourceImages,
                   CNNBatchNormalizationState* batchNormalizationState);
};

// The gradient of the source, which the batch's mean and variance depend on.
class _MPS_EXPORT CNNBatchNormalizationGradient : public NS::Copying<CNNBatchNormalizationGradient, CNNGradientKernel> {
 public:
  static CNNBatchNormalizationGradient* alloc();
  CNNBatchNormalizationGradient* init(MTL::Device* device, const NNNeuronDescriptor* fusedNeuronDescriptor = nullptr);

  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient, const Image* sourceImage,
              CNNBatchNormalizationState* batchNormalizationState, const Image* destinationGradient);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient, const Image* sourceImage,
                CNNBatchNormalizationState* batchNormalizationState);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients, const ImageBatch* sourceImages,
                   CNNBatchNormalizationState* batchNormalizationState, const ImageBatch* destinationGradients);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients,
                          const ImageBatch* sourceImages, CNNBatchNormalizationState* batchNormalizationState);
};

}  // namespace MPS
