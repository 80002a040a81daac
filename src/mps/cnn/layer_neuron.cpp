#include "mps/cnn/layer_neuron.hpp"

#include <fmt/format.h>

#include "mps/cnn/neuron_descriptor.hpp"

namespace metalloid::mps {

bool set_neuron(NeuronHolder& holder, MTL::Device* device, const MPS::NNNeuronDescriptor* descriptor,
                const char* call) {
  const NeuronDescriptorPart* described = body(descriptor);
  if (!described) return true;
  if (described->neuron.type == MPS::CNNNeuronTypePReLU) {
    holder.set_to_prelu(device, described->data.get(), call);
    return bool(holder.channel_a);
  }
  holder.set(described->neuron.type, described->neuron.parameters, call);
  return is_neuron_type(described->neuron.type);
}

Status check_neuron(const NeuronHolder& holder, size_t channels) {
  if (holder.neuron.type != MPS::CNNNeuronTypePReLU || holder.channels >= channels) return success();
  return Error{
      fmt::format("the neuron has parameters for {} channels, and the image has {}", holder.channels, channels)};
}

}  // namespace metalloid::mps
