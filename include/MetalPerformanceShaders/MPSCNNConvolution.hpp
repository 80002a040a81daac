// Convolution, its gradient, its transpose, and fully connected layers.
//
// Weights are given as [outputFeatureChannels][kernelHeight][kernelWidth][inputFeatureChannels / groups], by an object
// of the program: a class that derives from CNNConvolutionDataSource.
#pragma once

#include "MPSCNNKernel.hpp"
#include "MPSCNNNeuron.hpp"

namespace MPS {

class CNNConvolution;
class CNNConvolutionGradientState;
class CNNConvolutionWeightsAndBiasesState;

class _MPS_EXPORT CNNConvolutionDescriptor : public NS::Copying<CNNConvolutionDescriptor> {
 public:
  static CNNConvolutionDescriptor* cnnConvolutionDescriptor(NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                                                            NS::UInteger inputFeatureChannels,
                                                            NS::UInteger outputFeatureChannels);

  NS::UInteger kernelWidth() const;
  void setKernelWidth(NS::UInteger kernelWidth);
  NS::UInteger kernelHeight() const;
  void setKernelHeight(NS::UInteger kernelHeight);
  NS::UInteger inputFeatureChannels() const;
  void setInputFeatureChannels(NS::UInteger inputFeatureChannels);
  NS::UInteger outputFeatureChannels() const;
  void setOutputFeatureChannels(NS::UInteger outputFeatureChannels);
  NS::UInteger strideInPixelsX() const;
  void setStrideInPixelsX(NS::UInteger stride);
  NS::UInteger strideInPixelsY() const;
  void setStrideInPixelsY(NS::UInteger stride);
  NS::UInteger groups() const;
  void setGroups(NS::UInteger groups);
  NS::UInteger dilationRateX() const;
  void setDilationRateX(NS::UInteger rate);
  NS::UInteger dilationRateY() const;
  void setDilationRateY(NS::UInteger rate);
  // Applied to each result.
  NNNeuronDescriptor* fusedNeuronDescriptor() const;
  void setFusedNeuronDescriptor(const NNNeuronDescriptor* descriptor);
  // Weights and biases are changed when they are loaded, so that the result is gamma * (y - mean) / sqrt(variance +
  // epsilon) + beta. Each array has a number for each output channel; null gamma is 1, null beta 0.
  void setBatchNormalizationParametersForInference(const float* mean, const float* variance, const float* gamma,
                                                   const float* beta, float epsilon);
};

// Each input channel has filters of its own: outputFeatureChannels is a multiple of inputFeatureChannels, and channel
// k * channelMultiplier + q is made of input channel k. Weights are [outputFeatureChannels][kernelHeight][kernelWidth].
class _MPS_EXPORT CNNDepthWiseConvolutionDescriptor
    : public NS::Copying<CNNDepthWiseConvolutionDescriptor, CNNConvolutionDescriptor> {
 public:
  static CNNDepthWiseConvolutionDescriptor* cnnConvolutionDescriptor(NS::UInteger kernelWidth,
                                                                     NS::UInteger kernelHeight,
                                                                     NS::UInteger inputFeatureChannels,
                                                                     NS::UInteger outputFeatureChannels);
  NS::UInteger channelMultiplier() const;
};

// The result is subPixelScaleFactor times as wide and high, and has as many times fewer channels in both directions:
// pixel (x, y) of it, with r as the factor, takes those from (r * (y % r) + x % r) * (their number) on of the
// convolution's pixel (x / r, y / r). For inference: it has no gradient.
class _MPS_EXPORT CNNSubPixelConvolutionDescriptor
    : public NS::Copying<CNNSubPixelConvolutionDescriptor, CNNConvolutionDescriptor> {
 public:
  static CNNSubPixelConvolutionDescriptor* cnnConvolutionDescriptor(NS::UInteger kernelWidth, NS::UInteger kernelHeight,
                                                                    NS::UInteger inputFeatureChannels,
                                                                    NS::UInteger outputFeatureChannels);
  NS::UInteger subPixelScaleFactor() const;
  void setSubPixelScaleFactor(NS::UInteger subPixelScaleFactor);
};

_MPS_ENUM(uint32_t, CNNWeightsQuantizationType){
    CNNWeightsQuantizationTypeNone = 0,
    CNNWeightsQuantizationTypeLinear = 1,
    CNNWeightsQuantizationTypeLookupTable = 2,
};

// Where weights come from. load() is called before and purge() after the others.
class _MPS_EXPORT CNNConvolutionDataSource : public NS::Referencing<CNNConvolutionDataSource> {
 public:
  virtual DataType dataType() = 0;  // of weights(): Float32, Float16 or UInt8
  virtual CNNConvolutionDescriptor* descriptor() = 0;
  virtual void* weights() = 0;
  virtual float* biasTerms() = 0;  // or null
  virtual bool load() = 0;
  virtual void purge() = 0;
  virtual NS::String* label() { return nullptr; }

  // For UInt8 weights: the least and the greatest weight of each output channel, in turns; or 256 weights.
  virtual CNNWeightsQuantizationType weightsQuantizationType() { return CNNWeightsQuantizationTypeNone; }
  virtual const float* rangesForUInt8Kernel() { return nullptr; }
  virtual const float* lookupTableForUInt8Kernel() { return nullptr; }

  // Encodes how weights change by their gradients; answers the new ones, to be given to reloadWeightsAndBiases.
  virtual CNNConvolutionWeightsAndBiasesState* update(MTL::CommandBuffer* commandBuffer,
                                                      CNNConvolutionGradientState* gradientState,
                                                      CNNConvolutionWeightsAndBiasesState* sourceState);
  // The same on the host, when the gradients are there.
  virtual bool update(CNNConvolutionGradientState* gradientState, CNNConvolutionWeightsAndBiasesState* sourceState);
};

// The gradients of weights and biases, floats in the order of the weights, which CNNConvolutionGradient writes.
class _MPS_EXPORT CNNConvolutionGradientState : public NS::Referencing<CNNConvolutionGradientState, NNGradientState> {
 public:
  MTL::Buffer* gradientForWeights() const;
  MTL::Buffer* gradientForBiases() const;
  CNNConvolution* convolution() const;
};
using CNNConvolutionGradientStateBatch = NS::Array;

// Weights and biases as floats.
class _MPS_EXPORT CNNConvolutionWeightsAndBiasesState
    : public NS::Referencing<CNNConvolutionWeightsAndBiasesState, State> {
 public:
  static CNNConvolutionWeightsAndBiasesState* temporaryCNNConvolutionWeightsAndBiasesState(
      MTL::CommandBuffer* commandBuffer, const CNNConvolutionDescriptor* descriptor);
  static CNNConvolutionWeightsAndBiasesState* alloc();
  CNNConvolutionWeightsAndBiasesState* init(const MTL::Buffer* weights, const MTL::Buffer* biases);
  CNNConvolutionWeightsAndBiasesState* init(MTL::Device* device, const CNNConvolutionDescriptor* descriptor);
  MTL::Buffer* weights() const;
  MTL::Buffer* biases() const;
};

class _MPS_EXPORT CNNConvolution : public NS::Copying<CNNConvolution, CNNKernel> {
 public:
  static CNNConvolution* alloc();
  CNNConvolution* init(MTL::Device* device, CNNConvolutionDataSource* weights);

  NS::UInteger inputFeatureChannels() const;
  NS::UInteger outputFeatureChannels() const;
  NS::UInteger groups() const;
  NS::UInteger subPixelScaleFactor() const;
  NS::UInteger channelMultiplier() const;
  CNNConvolutionDataSource* dataSource() const;
  NNNeuronDescriptor* fusedNeuronDescriptor() const;
  // Sums are always kept in full precision.
  NNConvolutionAccumulatorPrecisionOption accumulatorPrecisionOption() const;
  void setAccumulatorPrecisionOption(NNConvolutionAccumulatorPrecisionOption option);

  void reloadWeightsAndBiasesFromDataSource();
  void reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer, const CNNConvolutionWeightsAndBiasesState* state);
  CNNConvolutionWeightsAndBiasesState* exportWeightsAndBiases(MTL::CommandBuffer* commandBuffer,
                                                              bool resultStateCanBeTemporary);
};

_MPS_OPTIONS(NS::UInteger, CNNConvolutionGradientOption){
    CNNConvolutionGradientOptionGradientWithData = 1,
    CNNConvolutionGradientOptionGradientWithWeightsAndBias = 2,
    CNNConvolutionGradientOptionAll = 3,
};

// The gradient for a fused neuron is not in it: the gradient it is given is that of the sums.
class _MPS_EXPORT CNNConvolutionGradient : public NS::Copying<CNNConvolutionGradient, CNNGradientKernel> {
 public:
  static CNNConvolutionGradient* alloc();
  CNNConvolutionGradient* init(MTL::Device* device, CNNConvolutionDataSource* weights);

  NS::UInteger sourceGradientFeatureChannels() const;
  NS::UInteger sourceImageFeatureChannels() const;
  NS::UInteger groups() const;
  NS::UInteger channelMultiplier() const;
  CNNConvolutionDataSource* dataSource() const;
  CNNConvolutionGradientOption gradientOption() const;
  void setGradientOption(CNNConvolutionGradientOption option);

  void reloadWeightsAndBiasesFromDataSource();
  void reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer, const CNNConvolutionWeightsAndBiasesState* state);
};

// The kernel is as large as the source, and the result one pixel.
class _MPS_EXPORT CNNFullyConnected : public NS::Copying<CNNFullyConnected, CNNConvolution> {
 public:
  static CNNFullyConnected* alloc();
  CNNFullyConnected* init(MTL::Device* device, CNNConvolutionDataSource* weights);
};

class _MPS_EXPORT CNNFullyConnectedGradient : public NS::Copying<CNNFullyConnectedGradient, CNNConvolutionGradient> {
 public:
  static CNNFullyConnectedGradient* alloc();
  CNNFullyConnectedGradient* init(MTL::Device* device, CNNConvolutionDataSource* weights);
};

class CNNConvolutionTranspose;

// As that of a convolution; written by CNNConvolutionTransposeGradient.
class _MPS_EXPORT CNNConvolutionTransposeGradientState
    : public NS::Referencing<CNNConvolutionTransposeGradientState, CNNConvolutionGradientState> {
 public:
  CNNConvolutionTranspose* convolutionTranspose() const;
};
using CNNConvolutionTransposeGradientStateBatch = NS::Array;

// A convolution of the source with stride - 1 zeros between its pixels. Destination pixel x is made of the enlarged
// source around x + offset * stride + kernelOffset; weights are used as they are, not turned.
class _MPS_EXPORT CNNConvolutionTranspose : public NS::Copying<CNNConvolutionTranspose, CNNKernel> {
 public:
  static CNNConvolutionTranspose* alloc();
  CNNConvolutionTranspose* init(MTL::Device* device, CNNConvolutionDataSource* weights);

  NS::UInteger inputFeatureChannels() const;
  NS::UInteger outputFeatureChannels() const;
  NS::UInteger groups() const;
  CNNConvolutionDataSource* dataSource() const;
  NS::Integer kernelOffsetX() const;
  void setKernelOffsetX(NS::Integer offset);
  NS::Integer kernelOffsetY() const;
  void setKernelOffsetY(NS::Integer offset);

  void reloadWeightsAndBiasesFromDataSource();
  void reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer, const CNNConvolutionWeightsAndBiasesState* state);

  using CNNKernel::encode;
  using CNNKernel::encodeBatch;
  // The result is as large as the source of the convolution that the state is of, and lies as it does.
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                const CNNConvolutionGradientState* convolutionGradientState);
  // The same with a state for the gradient.
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                const CNNConvolutionGradientState* convolutionGradientState,
                CNNConvolutionTransposeGradientState** destinationState, bool destinationStateIsTemporary);
  CNNConvolutionTransposeGradientState* resultState(const Image* sourceImage, const NS::Array* sourceStates,
                                                    const Image* destinationImage);
  CNNConvolutionTransposeGradientState* temporaryResultState(MTL::CommandBuffer* commandBuffer,
                                                             const Image* sourceImage, const NS::Array* sourceStates,
                                                             const Image* destinationImage);
};

// The gradient for a fused neuron is not in it.
class _MPS_EXPORT CNNConvolutionTransposeGradient
    : public NS::Copying<CNNConvolutionTransposeGradient, CNNGradientKernel> {
 public:
  static CNNConvolutionTransposeGradient* alloc();
  CNNConvolutionTransposeGradient* init(MTL::Device* device, CNNConvolutionDataSource* weights);

  NS::UInteger sourceGradientFeatureChannels() const;
  NS::UInteger sourceImageFeatureChannels() const;
  NS::UInteger groups() const;
  CNNConvolutionDataSource* dataSource() const;
  CNNConvolutionGradientOption gradientOption() const;
  void setGradientOption(CNNConvolutionGradientOption option);

  void reloadWeightsAndBiasesFromDataSource();
  void reloadWeightsAndBiases(MTL::CommandBuffer* commandBuffer, const CNNConvolutionWeightsAndBiasesState* state);
};

}  // namespace MPS
