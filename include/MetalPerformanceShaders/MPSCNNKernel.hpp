// The bases of neural network layers: kernels that make images of images.
//
// A kernel writes the part of the destination that clipRect names, from destinationFeatureChannelOffset on, and reads
// from `offset` in the source on; z chooses among the images of an Image. edgeMode says what is read outside. An encode
// that is not given a destination sizes one by the padding policy, which sets the offset too, and has
// destinationImageAllocator make it; temporary images by default.
#pragma once

#include "MPSNNGradientState.hpp"
#include "MPSNeuralNetworkTypes.hpp"

namespace MPS {

// Layers with one source image.
class _MPS_EXPORT CNNKernel : public NS::Copying<CNNKernel, Kernel> {
 public:
  Offset offset() const;
  void setOffset(Offset offset);
  MTL::Region clipRect() const;
  void setClipRect(MTL::Region clipRect);
  NS::UInteger destinationFeatureChannelOffset() const;
  void setDestinationFeatureChannelOffset(NS::UInteger channels);
  NS::UInteger sourceFeatureChannelOffset() const;
  void setSourceFeatureChannelOffset(NS::UInteger channels);
  NS::UInteger sourceFeatureChannelMaxCount() const;
  void setSourceFeatureChannelMaxCount(NS::UInteger channels);
  ImageEdgeMode edgeMode() const;
  void setEdgeMode(ImageEdgeMode edgeMode);
  NS::UInteger kernelWidth() const;
  NS::UInteger kernelHeight() const;
  NS::UInteger strideInPixelsX() const;
  NS::UInteger strideInPixelsY() const;
  NS::UInteger dilationRateX() const;
  NS::UInteger dilationRateY() const;
  bool isBackwards() const;
  bool isStateModified() const;
  NNPadding* padding() const;
  void setPadding(NNPadding* padding);
  ImageAllocator* destinationImageAllocator() const;
  void setDestinationImageAllocator(ImageAllocator* allocator);

  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const Image* destinationImage);
  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const State* destinationState,
              const Image* destinationImage);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, State** destinationState,
                bool destinationStateIsTemporary);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                   const ImageBatch* destinationImages);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                   const StateBatch* destinationStates, const ImageBatch* destinationImages);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                          StateBatch** destinationStates, bool destinationStateIsTemporary);

  State* resultState(const Image* sourceImage, const NS::Array* sourceStates, const Image* destinationImage);
  StateBatch* resultStateBatch(const ImageBatch* sourceImage, const NS::Array* sourceStates,
                               const ImageBatch* destinationImage);
  State* temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* sourceImage,
                              const NS::Array* sourceStates, const Image* destinationImage);
  StateBatch* temporaryResultStateBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImage,
                                        const NS::Array* sourceStates, const ImageBatch* destinationImage);
  bool isResultStateReusedAcrossBatch() const;
  bool appendBatchBarrier() const;
  // Sets the offset by the padding policy.
  ImageDescriptor* destinationImageDescriptor(const NS::Array* sourceImages, const NS::Array* sourceStates);
};

// Layers with two source images.
class _MPS_EXPORT CNNBinaryKernel : public NS::Copying<CNNBinaryKernel, Kernel> {
 public:
  Offset primaryOffset() const;
  void setPrimaryOffset(Offset offset);
  Offset secondaryOffset() const;
  void setSecondaryOffset(Offset offset);
  MTL::Region clipRect() const;
  void setClipRect(MTL::Region clipRect);
  NS::UInteger destinationFeatureChannelOffset() const;
  void setDestinationFeatureChannelOffset(NS::UInteger channels);
  NS::UInteger primarySourceFeatureChannelOffset() const;
  void setPrimarySourceFeatureChannelOffset(NS::UInteger channels);
  NS::UInteger secondarySourceFeatureChannelOffset() const;
  void setSecondarySourceFeatureChannelOffset(NS::UInteger channels);
  NS::UInteger primarySourceFeatureChannelMaxCount() const;
  void setPrimarySourceFeatureChannelMaxCount(NS::UInteger channels);
  NS::UInteger secondarySourceFeatureChannelMaxCount() const;
  void setSecondarySourceFeatureChannelMaxCount(NS::UInteger channels);
  ImageEdgeMode primaryEdgeMode() const;
  void setPrimaryEdgeMode(ImageEdgeMode edgeMode);
  ImageEdgeMode secondaryEdgeMode() const;
  void setSecondaryEdgeMode(ImageEdgeMode edgeMode);
  NS::UInteger primaryKernelWidth() const;
  NS::UInteger primaryKernelHeight() const;
  NS::UInteger secondaryKernelWidth() const;
  NS::UInteger secondaryKernelHeight() const;
  NS::UInteger primaryStrideInPixelsX() const;
  void setPrimaryStrideInPixelsX(NS::UInteger stride);
  NS::UInteger primaryStrideInPixelsY() const;
  void setPrimaryStrideInPixelsY(NS::UInteger stride);
  NS::UInteger secondaryStrideInPixelsX() const;
  void setSecondaryStrideInPixelsX(NS::UInteger stride);
  NS::UInteger secondaryStrideInPixelsY() const;
  void setSecondaryStrideInPixelsY(NS::UInteger stride);
  NS::UInteger primaryDilationRateX() const;
  NS::UInteger primaryDilationRateY() const;
  NS::UInteger secondaryDilationRateX() const;
  NS::UInteger secondaryDilationRateY() const;
  bool isBackwards() const;
  bool isStateModified() const;
  NNPadding* padding() const;
  void setPadding(NNPadding* padding);
  ImageAllocator* destinationImageAllocator() const;
  void setDestinationImageAllocator(ImageAllocator* allocator);

  void encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
              const Image* destinationImage);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
                State** destinationState, bool destinationStateIsTemporary);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                   const ImageBatch* secondaryImages, const ImageBatch* destinationImages);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                          const ImageBatch* secondaryImages);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImages,
                          const ImageBatch* secondaryImages, StateBatch** destinationStates,
                          bool destinationStateIsTemporary);

  State* resultState(const Image* primaryImage, const Image* secondaryImage, const NS::Array* sourceStates,
                     const Image* destinationImage);
  StateBatch* resultStateBatch(const ImageBatch* primaryImage, const ImageBatch* secondaryImage,
                               const NS::Array* sourceStates, const ImageBatch* destinationImage);
  State* temporaryResultState(MTL::CommandBuffer* commandBuffer, const Image* primaryImage, const Image* secondaryImage,
                              const NS::Array* sourceStates, const Image* destinationImage);
  StateBatch* temporaryResultStateBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* primaryImage,
                                        const ImageBatch* secondaryImage, const NS::Array* sourceStates,
                                        const ImageBatch* destinationImage);
  bool isResultStateReusedAcrossBatch() const;
  bool appendBatchBarrier() const;
  ImageDescriptor* destinationImageDescriptor(const NS::Array* sourceImages, const NS::Array* sourceStates);
};

// The gradient of a layer: from the gradient of its result (the primary image) and what it was made of (the secondary
// image) to the gradient of the latter. Where and how the layer worked is taken from the state of its forward pass.
class _MPS_EXPORT CNNGradientKernel : public NS::Copying<CNNGradientKernel, CNNBinaryKernel> {
 public:
  NS::Integer kernelOffsetX() const;
  void setKernelOffsetX(NS::Integer offset);
  NS::Integer kernelOffsetY() const;
  void setKernelOffsetY(NS::Integer offset);

  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient, const Image* sourceImage,
                const State* gradientState);
  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceGradient, const Image* sourceImage,
              const State* gradientState, const Image* destinationGradient);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients,
                          const ImageBatch* sourceImages, const StateBatch* gradientStates);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceGradients, const ImageBatch* sourceImages,
                   const StateBatch* gradientStates, const ImageBatch* destinationGradients);
};

}  // namespace MPS
