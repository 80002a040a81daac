#include "recurrent_layer.hpp"

#include "initial_weights.hpp"
#include "sequence.hpp"
#include "training/failure.hpp"

namespace metalloid::train_rnn {

namespace {

// Weights that a gate begins with, and its neuron.
class GateWeights : public MPS::CNNConvolutionDataSource {
 public:
  GateWeights(size_t inputs, size_t outputs, float bias, MPS::CNNNeuronType neuron, std::mt19937_64& random)
      : weights_(inputs * outputs), biases_(outputs, bias) {
    set_initial_weights(weights_, outputs, random);
    descriptor_ = NS::RetainPtr(MPS::CNNConvolutionDescriptor::cnnConvolutionDescriptor(1, 1, inputs, outputs));
    descriptor_->setFusedNeuronDescriptor(MPS::NNNeuronDescriptor::cnnNeuronDescriptor(neuron, 1, 1));
  }

  MPS::DataType dataType() override { return MPS::DataTypeFloat32; }
  MPS::CNNConvolutionDescriptor* descriptor() override { return descriptor_.get(); }
  void* weights() override { return weights_.data(); }
  float* biasTerms() override { return biases_.data(); }
  bool load() override { return true; }
  void purge() override {}

 private:
  std::vector<float> weights_, biases_;
  NS::SharedPtr<MPS::CNNConvolutionDescriptor> descriptor_;
};

MPS::RNNDescriptor* descriptor_of(Cell cell, size_t inputs, size_t outputs, std::mt19937_64& random) {
  const auto add_gate = [&](auto* descriptor, auto set_input, auto set_recurrent, MPS::CNNNeuronType neuron,
                            float bias = 0) {
    const auto input = NS::TransferPtr(new GateWeights(inputs, outputs, bias, neuron, random));
    const auto recurrent = NS::TransferPtr(new GateWeights(outputs, outputs, 0, neuron, random));
    (descriptor->*set_input)(input.get());
    (descriptor->*set_recurrent)(recurrent.get());
  };
  constexpr auto sigmoid = MPS::CNNNeuronTypeSigmoid, tanh = MPS::CNNNeuronTypeTanH;
  if (cell == Cell::gru) {
    using GRU = MPS::GRUDescriptor;
    GRU* gru = GRU::createGRUDescriptor(inputs, outputs);
    add_gate(gru, &GRU::setInputGateInputWeights, &GRU::setInputGateRecurrentWeights, sigmoid);
    add_gate(gru, &GRU::setRecurrentGateInputWeights, &GRU::setRecurrentGateRecurrentWeights, sigmoid);
    add_gate(gru, &GRU::setOutputGateInputWeights, &GRU::setOutputGateRecurrentWeights, tanh);
    return gru;
  }
  using LSTM = MPS::LSTMDescriptor;
  LSTM* lstm = LSTM::createLSTMDescriptor(inputs, outputs);
  add_gate(lstm, &LSTM::setInputGateInputWeights, &LSTM::setInputGateRecurrentWeights, sigmoid);
  // It begins by remembering, so that gradients reach far back (Gers et al., 2000).
  add_gate(lstm, &LSTM::setForgetGateInputWeights, &LSTM::setForgetGateRecurrentWeights, sigmoid, 1);
  add_gate(lstm, &LSTM::setCellGateInputWeights, &LSTM::setCellGateRecurrentWeights, tanh);
  add_gate(lstm, &LSTM::setOutputGateInputWeights, &LSTM::setOutputGateRecurrentWeights, sigmoid);
  return lstm;
}

}  // namespace

RecurrentLayer::RecurrentLayer(MTL::Device* device, Cell cell, size_t inputs, size_t outputs, std::mt19937_64& random) {
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  NS::Array* weights = nullptr;
  layer_ = NS::TransferPtr(
      MPS::RNNMatrixTrainingLayer::alloc()->init(device, descriptor_of(cell, inputs, outputs, random), &weights));
  if (!layer_) throw training::Failure(training::exit_failed, "the device cannot have a recurrent layer of this size");
  weights_ = NS::RetainPtr(weights);
  layer_->setTrainingStateIsTemporary(true);
}

void RecurrentLayer::add_parameters(const std::string& name, std::vector<Parameters::Initial>& initial) {
  constexpr const char* suffixes[] = {".input", ".recurrent", ".biases"};
  first_parameter_ = initial.size();
  for (size_t i = 0; i < weights_->count(); ++i)
    initial.push_back({name + suffixes[i], NS::RetainPtr(weights_->object<MPS::Matrix>(i))});
}

void RecurrentLayer::use(const Parameters& parameters) {
  std::vector<NS::SharedPtr<MPS::Matrix>> values, gradients;
  for (size_t i = 0; i < weights_->count(); ++i) {
    values.push_back(parameters.values(first_parameter_ + i));
    gradients.push_back(parameters.gradients(first_parameter_ + i));
  }
  weights_ = array_of(values);
  gradients_ = array_of(gradients);
}

RecurrentLayer::States RecurrentLayer::encode_forward(MTL::CommandBuffer* commands, const NS::Array* sources,
                                                      const NS::Array* destinations, State& state) {
  NS::Array *training_states = nullptr, *output_states = nullptr;
  layer_->encodeForwardSequence(commands, sources, nullptr, destinations, nullptr, &training_states, state.get(),
                                &output_states, weights_.get());
  state = output_states ? NS::RetainPtr(output_states->object<MPS::RNNRecurrentMatrixState>(0)) : State();
  return NS::RetainPtr(training_states);
}

void RecurrentLayer::encode_backward(MTL::CommandBuffer* commands, const NS::Array* sources,
                                     const NS::Array* destination_gradients, const NS::Array* source_gradients,
                                     const States& states) {
  layer_->encodeGradientSequence(commands, sources, destination_gradients, source_gradients, gradients_.get(),
                                 states.get(), weights_.get());
}

}  // namespace metalloid::train_rnn
