// The network: conv 5x5 to 32 channels, ReLU, max-pool, conv 5x5 to 64, ReLU, max-pool, fully connected to 1024, ReLU,
// dropout, fully connected to 10; softmax cross-entropy; Adam. A ReLU and a max-pooling may change places, so the
// pooling comes first here and leaves a quarter of the numbers to the ReLU.
//
// Images between layers are made once for a batch and used by all steps: command buffers of one queue run in order.
// What the host writes and reads is in slots, of which several are on their way at a time.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cstdint>
#include <span>
#include <vector>

#include "layer.hpp"
#include "mnist.hpp"

namespace metalloid::train_cnn {

// What a batch goes in and comes out with.
class Slot {
 public:
  Slot(MTL::Device* device, size_t batch);

  // Images of `digits`; the batch is filled up with the first one.
  void fill(const Digits& digits, std::span<const uint32_t> indices);
  // When the work is done: the loss, and for each image the class that the network takes it for, and how sure it is.
  float loss() const;
  struct Prediction {
    uint8_t digit;
    float probability;
  };
  std::vector<Prediction> predictions() const;

 private:
  friend class Network;
  NS::SharedPtr<NS::Array> images_, labels_, logits_;
};

class Network {
 public:
  Network(MTL::Device* device, size_t batch, double rate, uint64_t seed);

  size_t batch() const { return batch_; }
  Slot new_slot() const { return {device_, batch_}; }

  // Forward, backward and update. Steps count from 0; each drops other numbers.
  void encode_training(MTL::CommandBuffer* commands, const Slot& slot, size_t step);
  void encode_inference(MTL::CommandBuffer* commands, const Slot& slot);

  // What a checkpoint holds, in place. After it was changed, the network is told, and how many steps it has seen.
  std::vector<training::Tensor> tensors() const;
  void set_step(size_t step);

 private:
  void encode_forward(MTL::CommandBuffer* commands, const Slot& slot, MPS::CNNDropout* dropout);
  void encode_backward(MTL::CommandBuffer* commands, const Slot& slot);
  NS::SharedPtr<NS::Array> states_of(MPS::CNNKernel* kernel, const NS::SharedPtr<NS::Array>& source,
                                     const NS::SharedPtr<NS::Array>& destination) const;
  NS::SharedPtr<MPS::CNNDropout> new_dropout(size_t step) const;

  MTL::Device* const device_;
  const size_t batch_;
  const uint64_t seed_;
  std::mt19937_64 random_;
  Layer first_, second_, hidden_, last_;
  NS::SharedPtr<MPS::CNNPoolingMax> pool_;
  NS::SharedPtr<MPS::CNNPoolingMaxGradient> pool_gradient_;
  NS::SharedPtr<MPS::CNNNeuron> relu_;
  NS::SharedPtr<MPS::CNNNeuronGradient> relu_gradient_;
  NS::SharedPtr<MPS::CNNDropoutGradient> dropout_gradient_;
  NS::SharedPtr<MPS::CNNLoss> loss_;

  // Results of layers as batches of images, and gradients of them.
  NS::SharedPtr<NS::Array> convolved_first_, pooled_first_, activated_first_, convolved_second_, pooled_second_,
      activated_second_, connected_, activated_, kept_;
  NS::SharedPtr<NS::Array> image_gradient_, convolved_first_gradient_, pooled_first_gradient_,
      activated_first_gradient_, convolved_second_gradient_, pooled_second_gradient_, activated_second_gradient_,
      connected_gradient_, activated_gradient_, kept_gradient_, logits_gradient_;
  // What gradients know of the forward pass.
  NS::SharedPtr<NS::Array> pool_first_states_, pool_second_states_, relu_first_states_, relu_second_states_,
      relu_hidden_states_, dropout_states_;
};

}  // namespace metalloid::train_cnn
