// A layer with weights: a convolution, or one that is fully connected, with its gradient and the optimiser that moves
// its weights.
#pragma once

#include <MetalPerformanceShaders/MetalPerformanceShaders.hpp>
#include <random>
#include <string>
#include <vector>

#include "training/checkpoint.hpp"

namespace metalloid::train_cnn {

struct LayerShape {
  std::string name;
  size_t kernel, inputs, outputs;
};

// The weights of a layer and what Adam remembers of them, in shared buffers: MPS is given them as a data source, Adam
// changes them on the device, and checkpoints read and write them in place.
class TrainedWeights : public MPS::CNNConvolutionDataSource {
 public:
  TrainedWeights(MTL::Device* device, const LayerShape& shape, float rate, std::mt19937_64& random);

  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return descriptor_.get(); }
  void* weights() override { return weights_->contents(); }
  float* biasTerms() override { return static_cast<float*>(biases_->contents()); }
  bool load() override { return true; }
  void purge() override {}
  using MPS::CNNConvolutionDataSource::update;
  MPS::CNNConvolutionWeightsAndBiasesState* update(MTL::CommandBuffer* commands,
                                                   MPS::CNNConvolutionGradientState* gradient,
                                                   MPS::CNNConvolutionWeightsAndBiasesState* source) override;

  MPS::CNNConvolutionWeightsAndBiasesState* state() const { return state_.get(); }
  // How many updates there were.
  void set_step(size_t step) { adam_->setTimeStep(step); }
  std::vector<training::Tensor> tensors() const;

 private:
  const LayerShape shape_;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> descriptor_;
  NS::SharedPtr<MTL::Buffer> weights_, biases_;
  NS::SharedPtr<MPS::CNNConvolutionWeightsAndBiasesState> state_;
  NS::SharedPtr<NS::Array> momentum_, velocity_;  // vectors for weights and biases
  NS::SharedPtr<MPS::NNOptimizerAdam> adam_;
};

struct Layer {
  enum class Kind { convolution, fully_connected };
  Layer(MTL::Device* device, Kind kind, const LayerShape& shape, float rate, std::mt19937_64& random);

  // Moves the weights by the gradient in `states`, and hands them to both kernels.
  void encode_update(MTL::CommandBuffer* commands);

  NS::SharedPtr<TrainedWeights> weights;
  NS::SharedPtr<MPS::CNNConvolution> forward;
  NS::SharedPtr<MPS::CNNConvolutionGradient> backward;
  NS::SharedPtr<NS::Array> states;  // of the forward pass, one for the whole batch
};

}  // namespace metalloid::train_cnn
