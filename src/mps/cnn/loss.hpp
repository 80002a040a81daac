// The data of losses and of their labels.
#pragma once

#include <MetalPerformanceShaders/MPSCNNLoss.hpp>

#include "mps/core/cnn_kernel.hpp"

namespace metalloid::mps {

class LossDescriptorPart {
 public:
  MPS::CNNLossType type = MPS::CNNLossTypeMeanAbsoluteError;
  MPS::CNNReductionType reduction = MPS::CNNReductionTypeNone;
  bool across_batch = false;
  float weight = 1, label_smoothing = 0;
  NS::UInteger classes = 1;
  float epsilon = 1e-7f, delta = 1;
};

class LossDataPart {
 public:
  NS::SharedPtr<NS::Data> data;
  MPS::DataLayout layout = MPS::DataLayoutHeightxWidthxFeatureChannels;
  MTL::Size size = MTL::Size(0, 0, 0);
  NS::UInteger bytes_per_row = 0, bytes_per_image = 0;
};

class LossLabelsPart : public StatePart {
 public:
  NS::SharedPtr<MPS::Image> labels, weights, loss;
};

}  // namespace metalloid::mps
