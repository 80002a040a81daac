// The data of convolution kernels and their states.
#pragma once

#include "mps/cnn/convolution_weights.hpp"
#include "mps/core/cnn_kernel.hpp"

namespace metalloid::mps {

class ConvolutionPart : public CnnKernelPart {
 public:
  std::shared_ptr<ConvolutionWeights> weights;
  bool is_fully_connected = false;
  MPS::NNConvolutionAccumulatorPrecisionOption accumulator = MPS::NNConvolutionAccumulatorPrecisionOptionFloat;

  const char* call() const override {
    return is_fully_connected ? "MPS::CNNFullyConnected::encode" : "MPS::CNNConvolution::encode";
  }
  size_t result_channels(size_t) const override { return weights->shape.outputs; }
  ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const override;
  NS::SharedPtr<MPS::State> new_state() const override;
  bool state_is_shared() const override { return true; }
  // Allowed to, at least.
  bool accumulates_in_half() const { return accumulator == MPS::NNConvolutionAccumulatorPrecisionOptionHalf; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;
};

class ConvolutionGradientStatePart : public GradientStatePart {
 public:
  NS::SharedPtr<MPS::CNNConvolution> made_by;
};

// The indices of buffers in a gradient state, and in one of weights and biases.
constexpr size_t weights_index = 0, biases_index = 1;

// The weights become those that the state will hold when the commands encoded here are carried out.
void reload(Encoding& encoding, std::shared_ptr<ConvolutionWeights>& weights,
            const MPS::CNNConvolutionWeightsAndBiasesState* state);

}  // namespace metalloid::mps
