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
  size_t result_channels(size_t) const override {
    return weights->shape.outputs / (weights->shape.sub_pixels * weights->shape.sub_pixels);
  }
  ImageShape result_shape(const ImageShape& source, const ImageShape& suggested) const override;
  NS::SharedPtr<MPS::State> new_state() const override;
  bool state_is_shared() const override { return true; }
  // Allowed to, at least.
  bool accumulates_in_half() const { return accumulator == MPS::NNConvolutionAccumulatorPrecisionOptionHalf; }
  Status encode_layer(Encoding& encoding, CnnTask& task) const override;

 private:
  Status encode_sub_pixels(Encoding& encoding, CnnTask& task) const;
};

class ConvolutionGradientStatePart : public GradientStatePart {
 public:
  NS::SharedPtr<MPS::CNNConvolution> made_by;
};

class ConvolutionTransposeStatePart : public ConvolutionGradientStatePart {
 public:
  NS::SharedPtr<MPS::CNNConvolutionTranspose> made_by_transpose;
  NS::Integer left = 0, top = 0;  // of the first window, in the source with its pixels moved apart
};

// The indices of buffers in a gradient state, and in one of weights and biases.
constexpr size_t weights_index = 0, biases_index = 1;

// Where a state has the gradients of weights and biases; an error if it is of another convolution.
struct WeightsGradient {
  Operand weights, biases;
};
Result<WeightsGradient> weights_gradient_in(const std::vector<MPS::State*>& states, const ConvolutionShape& shape);

// By our kernels.
void convolve_weights_gradient(Encoding& encoding, const ConvolutionShape& shape, const ConvolutionPlace& place,
                               const ImageTensor& source, const ImageTensor& gradient, const WeightsGradient& result);

// The weights become those that the state will hold when the commands encoded here are carried out.
void reload(Encoding& encoding, std::shared_ptr<ConvolutionWeights>& weights,
            const MPS::CNNConvolutionWeightsAndBiasesState* state);

}  // namespace metalloid::mps
