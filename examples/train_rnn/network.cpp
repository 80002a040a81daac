#include "network.hpp"

#include <algorithm>

#include "initial_weights.hpp"

namespace metalloid::train_rnn {

namespace {

NS::SharedPtr<MPS::Matrix> new_matrix(MTL::Device* device, size_t rows, size_t columns) {
  return matrix_in(new_buffer(device, rows * columns * sizeof(float), MTL::ResourceStorageModeShared), 0, rows,
                   columns);
}

NS::SharedPtr<MPS::Vector> vector_of(const NS::SharedPtr<MPS::Matrix>& row) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  return NS::TransferPtr(MPS::Vector::alloc()->init(
      row->data(), row->offset(), MPS::VectorDescriptor::vectorDescriptor(row->columns(), MPS::DataTypeFloat32)));
}

}  // namespace

Flow::Flow(MTL::Device* device, const NetworkShape& shape, size_t steps, size_t rows, bool predicts_each_step)
    : steps(steps),
      rows(rows),
      predicts_each_step(predicts_each_step),
      inputs(device, steps, rows, shape.inputs),
      output_buffer(new_buffer(device, predictions() * shape.outputs * sizeof(float), MTL::ResourceStorageModePrivate)),
      outputs(matrix_in(output_buffer, 0, predictions(), shape.outputs)),
      states(shape.layers) {
  for (size_t i = 0; i < shape.layers; ++i) {
    hidden.emplace_back(device, steps, rows, shape.hidden);
    hidden_gradients.emplace_back(device, steps, rows, shape.hidden);
  }
}

Network::Network(MTL::Device* device, const NetworkShape& shape, uint64_t seed)
    : device_(device), shape_(shape), kernels_(device) {
  std::mt19937_64 random(seed);
  std::vector<Parameters::Initial> initial;
  for (size_t i = 0; i < shape.layers; ++i) {
    layers_.emplace_back(device, shape.cell, i == 0 ? shape.inputs : shape.hidden, shape.hidden, random);
    layers_.back().add_parameters("layer" + std::to_string(i + 1), initial);
  }
  first_of_head_ = initial.size();
  const auto weights = new_matrix(device, shape.hidden, shape.outputs);
  const auto biases = new_matrix(device, 1, shape.outputs);
  set_initial_weights({static_cast<float*>(weights->data()->contents()), shape.hidden * shape.outputs}, shape.hidden,
                      random);
  std::fill_n(static_cast<float*>(biases->data()->contents()), shape.outputs, 0.0f);
  initial.push_back({"head.weights", weights});
  initial.push_back({"head.biases", biases});
  parameters_.emplace(device, initial);
  for (RecurrentLayer& layer : layers_) layer.use(*parameters_);
  head_ = NS::TransferPtr(MPS::MatrixFullyConnected::alloc()->init(device));
  head_gradient_ = NS::TransferPtr(MPS::MatrixFullyConnectedGradient::alloc()->init(device));
  biases_ = vector_of(parameters_->values(first_of_head_ + 1));
  bias_gradients_ = vector_of(parameters_->gradients(first_of_head_ + 1));
}

void Network::encode_forward(MTL::CommandBuffer* commands, Flow& flow, Memory& memory,
                             const std::optional<Dropout>& dropout) {
  memory.resize(layers_.size());
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Sequence& source = i == 0 ? flow.inputs : flow.hidden[i - 1];
    flow.states[i] = layers_[i].encode_forward(commands, source.steps(), flow.hidden[i].steps(), memory[i]);
    encode_dropout(commands, flow.hidden[i], i, dropout);
  }
  const Sequence& last = flow.hidden.back();
  head_->encode(commands, flow.predicts_each_step ? last.all() : last.last(), parameters_->values(first_of_head_).get(),
                biases_.get(), flow.outputs.get());
}

void Network::encode_backward(MTL::CommandBuffer* commands, Flow& flow, const std::optional<Dropout>& dropout) {
  const Sequence &last = flow.hidden.back(), &last_gradient = flow.hidden_gradients.back();
  if (!flow.predicts_each_step) {
    MTL::BlitCommandEncoder* fill = commands->blitCommandEncoder();
    fill->fillBuffer(last_gradient.buffer(), NS::Range::Make(0, last_gradient.count() * sizeof(float)), 0);
    fill->endEncoding();
  }
  head_gradient_->encodeGradientForWeightsAndBias(commands, flow.outputs.get(),
                                                  flow.predicts_each_step ? last.all() : last.last(),
                                                  parameters_->gradients(first_of_head_).get(), bias_gradients_.get());
  head_gradient_->encodeGradientForData(commands, flow.outputs.get(), parameters_->values(first_of_head_).get(),
                                        flow.predicts_each_step ? last_gradient.all() : last_gradient.last());
  for (size_t i = layers_.size(); i-- > 0;) {
    encode_dropout(commands, flow.hidden_gradients[i], i, dropout);
    const Sequence& source = i == 0 ? flow.inputs : flow.hidden[i - 1];
    layers_[i].encode_backward(commands, source.steps(), flow.hidden_gradients[i].steps(),
                               i == 0 ? nullptr : flow.hidden_gradients[i - 1].steps(), flow.states[i]);
  }
}

void Network::encode_dropout(MTL::CommandBuffer* commands, const Sequence& sequence, size_t layer,
                             const std::optional<Dropout>& dropout) const {
  if (dropout)
    kernels_.dropout(commands, sequence.buffer(), sequence.count(), dropout->seed + 0x61C88647u * uint32_t(layer),
                     dropout->keep);
}

}  // namespace metalloid::train_rnn
