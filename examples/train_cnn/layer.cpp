#include "layer.hpp"

#include <algorithm>
#include <cmath>

#include "training/failure.hpp"

namespace metalloid::train_cnn {

namespace {

NS::SharedPtr<MTL::Buffer> new_buffer(MTL::Device* device, size_t numbers) {
  auto buffer = NS::TransferPtr(device->newBuffer(numbers * sizeof(float), MTL::ResourceStorageModeShared));
  if (!buffer)
    throw training::Failure(training::exit_failed, "the device has no memory left for the network's weights");
  std::fill_n(static_cast<float*>(buffer->contents()), numbers, 0.0f);
  return buffer;
}

NS::SharedPtr<NS::Array> new_vectors(MTL::Device* device, std::initializer_list<size_t> lengths) {
  std::vector<NS::SharedPtr<MPS::Vector>> vectors;
  std::vector<const NS::Object*> objects;
  for (const size_t length : lengths) {
    vectors.push_back(NS::TransferPtr(MPS::Vector::alloc()->init(
        new_buffer(device, length).get(), MPS::VectorDescriptor::vectorDescriptor(length, MPS::DataTypeFloat32))));
    objects.push_back(vectors.back().get());
  }
  return NS::TransferPtr(NS::Array::alloc()->init(objects.data(), objects.size()));
}

float* numbers_of(const NS::SharedPtr<NS::Array>& vectors, size_t index) {
  return static_cast<float*>(vectors->object<MPS::Vector>(index)->data()->contents());
}

}  // namespace

TrainedWeights::TrainedWeights(MTL::Device* device, const LayerShape& shape, float rate, std::mt19937_64& random)
    : shape_(shape) {
  descriptor_ = NS::RetainPtr(
      MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(shape.kernel, shape.kernel, shape.inputs, shape.outputs));

  // Small enough that the first guesses are unsure ones: pooling makes signals grow from layer to layer.
  const size_t of_output = shape.kernel * shape.kernel * shape.inputs, count = of_output * shape.outputs;
  weights_ = new_buffer(device, count);
  biases_ = new_buffer(device, shape.outputs);
  const float bound = 1 / std::sqrt(static_cast<float>(of_output));
  std::uniform_real_distribution<float> uniform(-bound, bound);
  std::generate_n(static_cast<float*>(weights_->contents()), count, [&] { return uniform(random); });
  state_ = NS::TransferPtr(MPS::CNNConvolutionWeightsAndBiasesState::alloc()->init(weights_.get(), biases_.get()));

  momentum_ = new_vectors(device, {count, shape.outputs});
  velocity_ = new_vectors(device, {count, shape.outputs});
  adam_ = NS::TransferPtr(MPS::NNOptimizerAdam::alloc()->init(device, rate));
}

MPS::CNNConvolutionWeightsAndBiasesState* TrainedWeights::update(MTL::CommandBuffer* commands,
                                                                 MPS::CNNConvolutionGradientState* gradient,
                                                                 MPS::CNNConvolutionWeightsAndBiasesState* source) {
  adam_->encode(commands, gradient, source, momentum_.get(), velocity_.get(), state_.get());
  return state_.get();
}

std::vector<training::Tensor> TrainedWeights::tensors() const {
  const std::vector<size_t> weights = {shape_.outputs, shape_.kernel, shape_.kernel, shape_.inputs};
  const std::vector<size_t> biases = {shape_.outputs};
  return {{shape_.name + ".weights", weights, static_cast<float*>(weights_->contents())},
          {shape_.name + ".biases", biases, static_cast<float*>(biases_->contents())},
          {shape_.name + ".weights.momentum", weights, numbers_of(momentum_, 0)},
          {shape_.name + ".biases.momentum", biases, numbers_of(momentum_, 1)},
          {shape_.name + ".weights.velocity", weights, numbers_of(velocity_, 0)},
          {shape_.name + ".biases.velocity", biases, numbers_of(velocity_, 1)}};
}

Layer::Layer(MTL::Device* device, Kind kind, const LayerShape& shape, float rate, std::mt19937_64& random)
    : weights(NS::TransferPtr(new TrainedWeights(device, shape, rate, random))) {
  if (kind == Kind::convolution) {
    forward = NS::TransferPtr(MPS::CNNConvolution::alloc()->init(device, weights.get()));
    backward = NS::TransferPtr(MPS::CNNConvolutionGradient::alloc()->init(device, weights.get()));
  } else {
    forward = NS::TransferPtr<MPS::CNNConvolution>(MPS::CNNFullyConnected::alloc()->init(device, weights.get()));
    backward = NS::TransferPtr<MPS::CNNConvolutionGradient>(
        MPS::CNNFullyConnectedGradient::alloc()->init(device, weights.get()));
  }
  // Gradients of batches are noise enough that shorter numbers teach as well, and GPUs multiply them several times as fast.
  forward->setAccumulatorPrecisionOption(MPS::NNConvolutionAccumulatorPrecisionOptionHalf);
}

void Layer::encode_update(MTL::CommandBuffer* commands) {
  auto* gradient = states->object<MPS::CNNConvolutionGradientState>(0);
  MPS::CNNConvolutionWeightsAndBiasesState* updated = weights->update(commands, gradient, weights->state());
  forward->reloadWeightsAndBiases(commands, updated);
  backward->reloadWeightsAndBiases(commands, updated);
}

}  // namespace metalloid::train_cnn
