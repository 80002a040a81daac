// Losses: how far predictions y are from labels t, and the gradient of that, with which training begins to go back.
//
//   MeanAbsoluteError          |y - t|
//   MeanSquaredError           (y - t)^2
//   SoftMaxCrossEntropy        -t * log(softmax(y)), over the channels of a pixel
//   SigmoidCrossEntropy        max(y, 0) - y * t + log(1 + e^-|y|)
//   CategoricalCrossEntropy    -t * log(y)
//   Hinge                      max(1 - (2 * t - 1) * y, 0), with labels 0 and 1
//   Huber                      (y - t)^2 / 2 within delta, delta^2 / 2 + delta * (|y - t| - delta) beyond
//   CosineDistance             1 - sum(y * t); its reduction can only be Sum
//   Log                        -t * log(y + epsilon) - (1 - t) * log(1 - y + epsilon)
//   KullbackLeiblerDivergence  t * (log(t) - y), with y the logarithms of probabilities
//
// Each is multiplied with `weight`, and with the labels' weights where there are some; so is its gradient, on which the
// reduction has no influence. Labels are smoothed for the first two cross entropies: t * (1 - labelSmoothing) +
// labelSmoothing / numberOfClasses, or + labelSmoothing / 2 for sigmoid. Means are over width * height * channels, for
// the softmax over width * height.
#pragma once

#include "MPSCNNKernel.hpp"
#include "MPSCNNTypes.hpp"

namespace MPS {

// Labels or weights, floats.
class _MPS_EXPORT CNNLossDataDescriptor : public NS::Copying<CNNLossDataDescriptor> {
 public:
  // Without gaps between rows, unless bytesPerRow and bytesPerImage are set. Size is width, height, channels.
  static CNNLossDataDescriptor* cnnLossDataDescriptor(const NS::Data* data, DataLayout layout, MTL::Size size);

  DataLayout layout() const;
  MTL::Size size() const;
  NS::UInteger bytesPerRow() const;
  void setBytesPerRow(NS::UInteger bytesPerRow);
  NS::UInteger bytesPerImage() const;
  void setBytesPerImage(NS::UInteger bytesPerImage);
};

// The labels of one image, their weights, and the loss when it has been found: one number, or, without a reduction, as
// many as the image has.
class _MPS_EXPORT CNNLossLabels : public NS::Referencing<CNNLossLabels, State> {
 public:
  static CNNLossLabels* alloc();
  CNNLossLabels* init(MTL::Device* device, const CNNLossDataDescriptor* labelsDescriptor);
  // Weights may be null.
  CNNLossLabels* init(MTL::Device* device, MTL::Size lossImageSize, const CNNLossDataDescriptor* labelsDescriptor,
                      const CNNLossDataDescriptor* weightsDescriptor);
  CNNLossLabels* init(MTL::Device* device, MTL::Size lossImageSize, Image* labelsImage, Image* weightsImage);

  Image* lossImage() const;
  Image* labelsImage() const;
  Image* weightsImage() const;
};
using CNNLossLabelsBatch = NS::Array;

class _MPS_EXPORT CNNLossDescriptor : public NS::Copying<CNNLossDescriptor> {
 public:
  static CNNLossDescriptor* cnnLossDescriptor(CNNLossType lossType, CNNReductionType reductionType);

  CNNLossType lossType() const;
  void setLossType(CNNLossType lossType);
  CNNReductionType reductionType() const;
  void setReductionType(CNNReductionType reductionType);
  // The reduction is over all images of the batch; the first one's loss has it, and the others' are 0.
  bool reduceAcrossBatch() const;
  void setReduceAcrossBatch(bool reduceAcrossBatch);
  float weight() const;
  void setWeight(float weight);
  float labelSmoothing() const;
  void setLabelSmoothing(float labelSmoothing);
  NS::UInteger numberOfClasses() const;
  void setNumberOfClasses(NS::UInteger numberOfClasses);
  float epsilon() const;
  void setEpsilon(float epsilon);
  float delta() const;
  void setDelta(float delta);
};

// Takes predictions and labels; the destination is the gradient of the predictions.
class _MPS_EXPORT CNNLoss : public NS::Copying<CNNLoss, CNNKernel> {
 public:
  static CNNLoss* alloc();
  CNNLoss* init(MTL::Device* device, const CNNLossDescriptor* lossDescriptor);

  CNNLossType lossType() const;
  CNNReductionType reductionType() const;
  bool reduceAcrossBatch() const;
  float weight() const;
  float labelSmoothing() const;
  NS::UInteger numberOfClasses() const;
  float epsilon() const;
  float delta() const;

  void encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const CNNLossLabels* labels,
              const Image* destinationImage);
  Image* encode(MTL::CommandBuffer* commandBuffer, const Image* sourceImage, const CNNLossLabels* labels);
  void encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages, const CNNLossLabelsBatch* labels,
                   const ImageBatch* destinationImages);
  ImageBatch* encodeBatch(MTL::CommandBuffer* commandBuffer, const ImageBatch* sourceImages,
                          const CNNLossLabelsBatch* labels);
};

}  // namespace MPS
