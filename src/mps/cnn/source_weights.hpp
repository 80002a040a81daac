// What a data source has to give: weights, biases and a neuron, read on the host while it is loaded.
#pragma once

#include <vector>

#include "mps/cnn/convolution_descriptor.hpp"

namespace metalloid::mps {

struct SourceWeights {
  ConvolutionShape shape;
  std::vector<float> numbers;  // in the order of the data source, whatever its type is
  std::vector<float> biases;   // zeros where there are none
  bool has_biases = false;
  NS::SharedPtr<MPS::NNNeuronDescriptor> neuron_descriptor;
  Neuron neuron;
  std::vector<float> slopes;  // of a PReLU, one for each output channel
};

// All weights, or the first `most` of them.
Result<SourceWeights> load_weights(MPS::CNNConvolutionDataSource* source, size_t most = SIZE_MAX);

}  // namespace metalloid::mps
