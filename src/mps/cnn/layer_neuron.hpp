// The neuron of a layer, from its descriptor.
#pragma once

#include <MetalPerformanceShaders/MPSCNNNeuron.hpp>

#include "mps/matrix/neuron_holder.hpp"

namespace metalloid::mps {

// False, and reported, where there is no such neuron. No descriptor stands for no neuron.
bool set_neuron(NeuronHolder& holder, MTL::Device* device, const MPS::NNNeuronDescriptor* descriptor, const char* call);

// Whether a PReLU has parameters for so many channels.
Status check_neuron(const NeuronHolder& holder, size_t channels);

}  // namespace metalloid::mps
