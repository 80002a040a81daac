// A recurrent layer that is trained: an LSTM or a GRU without memory weights.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <random>
#include <string>
#include <vector>

#include "parameters.hpp"

namespace metalloid::train_rnn {

enum class Cell { lstm, gru };

class RecurrentLayer {
 public:
  RecurrentLayer(MTL::Device* device, Cell cell, size_t inputs, size_t outputs, std::mt19937_64& random);

  // The weights it begins with, as parameters of this name. They are added to those that are there already.
  void add_parameters(const std::string& name, std::vector<Parameters::Initial>& initial);
  // Where they are from then on.
  void use(const Parameters& parameters);

  using States = NS::SharedPtr<NS::Array>;                    // of training, one for each step
  using State = NS::SharedPtr<MPS::RNNRecurrentMatrixState>;  // null: zeros
  // From `state`, which becomes that after the last step. Gives what the gradient needs.
  States encode_forward(MTL::CommandBuffer* commands, const NS::Array* sources, const NS::Array* destinations,
                        State& state);
  // `source_gradients` may be null. Gradients of weights go to the parameters'.
  void encode_backward(MTL::CommandBuffer* commands, const NS::Array* sources, const NS::Array* destination_gradients,
                       const NS::Array* source_gradients, const States& states);

 private:
  NS::SharedPtr<MPS::RNNMatrixTrainingLayer> layer_;
  NS::SharedPtr<NS::Array> weights_, gradients_;
  size_t first_parameter_ = 0;
};

}  // namespace metalloid::train_rnn
