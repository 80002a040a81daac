// The network: recurrent layers, one on the other, and a fully connected one that turns what the last of them gives
// into what is predicted. In training, dropout follows each recurrent layer.
//
// What flows between layers is made once for a shape and used by all steps: command buffers of one queue run in order.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels.hpp"
#include "parameters.hpp"
#include "recurrent_layer.hpp"
#include "sequence.hpp"

namespace metalloid::train_rnn {

struct NetworkShape {
  Cell cell;
  size_t inputs, hidden, layers, outputs;
};

// What flows through a network with `rows` sequences of `steps`.
struct Flow {
  Flow(MTL::Device* device, const NetworkShape& shape, size_t steps, size_t rows, bool predicts_each_step);

  const size_t steps, rows;
  const bool predicts_each_step;  // else there are predictions of the last step only
  Sequence inputs;
  std::vector<Sequence> hidden, hidden_gradients;
  // [predictions][outputs]: of the forward pass, which the loss replaces by its gradient.
  NS::SharedPtr<MTL::Buffer> output_buffer;
  NS::SharedPtr<MPS::Matrix> outputs;
  std::vector<RecurrentLayer::States> states;

  size_t predictions() const { return predicts_each_step ? steps * rows : rows; }
};

// What recurrent layers remember, from the last step of a chunk to the first of the next; empty: nothing yet.
using Memory = std::vector<RecurrentLayer::State>;

struct Dropout {
  float keep;
  uint32_t seed;
};

class Network {
 public:
  Network(MTL::Device* device, const NetworkShape& shape, uint64_t seed);

  const NetworkShape& shape() const { return shape_; }
  MTL::Device* device() const { return device_; }
  const Kernels& kernels() const { return kernels_; }
  Parameters& parameters() { return *parameters_; }

  // From the flow's inputs to its outputs.
  void encode_forward(MTL::CommandBuffer* commands, Flow& flow, Memory& memory, const std::optional<Dropout>& dropout);
  // From the gradient of the outputs to those of the parameters; after encode_forward in the same command buffer.
  void encode_backward(MTL::CommandBuffer* commands, Flow& flow, const std::optional<Dropout>& dropout);

 private:
  void encode_dropout(MTL::CommandBuffer* commands, const Sequence& sequence, size_t layer,
                      const std::optional<Dropout>& dropout) const;

  MTL::Device* const device_;
  const NetworkShape shape_;
  const Kernels kernels_;
  std::vector<RecurrentLayer> layers_;
  std::optional<Parameters> parameters_;
  size_t first_of_head_ = 0;  // the place of the fully connected layer's weights; its biases follow
  NS::SharedPtr<MPS::MatrixFullyConnected> head_;
  NS::SharedPtr<MPS::MatrixFullyConnectedGradient> head_gradient_;
  NS::SharedPtr<MPS::Vector> biases_, bias_gradients_;
};

}  // namespace metalloid::train_rnn
