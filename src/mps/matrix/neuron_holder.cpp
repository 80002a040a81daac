#include "mps/matrix/neuron_holder.hpp"

#include <fmt/format.h>

namespace metalloid::mps {

void NeuronHolder::set(MPS::CNNNeuronType type, NeuronParameters parameters, const char* call) {
  if (!is_neuron_type(type))
    return foundation::report_misuse(call, fmt::format("there is no neuron type {}", static_cast<int>(type)));
  if (type == MPS::CNNNeuronTypePReLU)
    return foundation::report_misuse(call, "PReLU has parameters for each channel; call setNeuronToPReLU");
  neuron = {type, parameters};
  channel_a.reset();
  channels = 0;
}

void NeuronHolder::set_to_prelu(MTL::Device* device, const NS::Data* parameters, const char* call) {
  if (!parameters || parameters->length() == 0 || parameters->length() % sizeof(float))
    return foundation::report_misuse(call, "the parameters must be floats, one for each channel");
  auto buffer = NS::TransferPtr(
      device->newBuffer(parameters->mutableBytes(), parameters->length(), MTL::ResourceStorageModeShared));
  if (!buffer) return foundation::report_misuse(call, "there is no memory for the parameters");
  neuron = {MPS::CNNNeuronTypePReLU, {}};
  channel_a = std::move(buffer);
  channels = parameters->length() / sizeof(float);
}

}  // namespace metalloid::mps
