// The data of NNNeuronDescriptor.
#pragma once

#include <MetalPerformanceShaders/MPSCNNNeuron.hpp>
#include <vector>

#include "mps/core/neuron.hpp"
#include "mps/core/object.hpp"

namespace metalloid::mps {

class NeuronDescriptorPart {
 public:
  Neuron neuron;
  NS::SharedPtr<NS::Data> data;  // of a PReLU: one float for each channel

  std::vector<float> slopes() const;
};

inline NeuronDescriptorPart* body(const MPS::NNNeuronDescriptor* descriptor) {
  return part_of<NeuronDescriptorPart>(const_cast<MPS::NNNeuronDescriptor*>(descriptor));
}

}  // namespace metalloid::mps
