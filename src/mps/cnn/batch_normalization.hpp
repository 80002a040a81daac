// The data of batch normalization and its state.
#pragma once

#include "mps/cnn/normalization.hpp"

namespace metalloid::mps {

class BatchNormalizationPart : public CnnKernelPart {
 public:
  NS::SharedPtr<MPS::CNNBatchNormalizationDataSource> source;
  size_t channels = 0;
  ChannelPair gamma_and_beta, mean_and_variance;
  float epsilon = 0;
  NeuronHolder neuron;

  const char* call() const override { return "MPS::CNNBatchNormalization::encode"; }
  NS::SharedPtr<MPS::State> new_state() const override;
  bool state_is_shared() const override { return true; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class BatchNormalizationStatePart : public GradientStatePart {
 public:
  // Buffers of the state itself.
  enum : size_t { mean_index, variance_index, gamma_gradient_index, beta_gradient_index };

  NS::SharedPtr<MPS::CNNBatchNormalization> made_by;
  ChannelPair gamma_and_beta, given_mean_and_variance;
  size_t channels = 0;
  float epsilon = 0;
  bool has_statistics = false;

  MTL::Buffer* mean() { return has_statistics ? buffer(mean_index) : given_mean_and_variance.first.get(); }
  MTL::Buffer* variance() { return has_statistics ? buffer(variance_index) : given_mean_and_variance.second.get(); }
};

}  // namespace metalloid::mps
