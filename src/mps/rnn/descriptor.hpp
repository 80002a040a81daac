// The data of recurrent layers' descriptors. All kinds have one part, with a data source for each matrix that an
// RNNMatrixId names; those of biases stay empty, since biases come with the input weights of their gate.
#pragma once

#include <MetalPerformanceShaders/MPSRNNLayer.hpp>
#include <array>

#include "mps/core/neuron.hpp"
#include "mps/core/object.hpp"

namespace metalloid::mps {

enum class CellKind { single_gate, gru, lstm };

class RnnDescriptorPart {
 public:
  virtual ~RnnDescriptorPart() = default;

  CellKind kind = CellKind::single_gate;
  NS::UInteger inputs = 0, outputs = 0;
  bool input_is_unit = false, float32_weights = false;
  MPS::RNNSequenceDirection direction = MPS::RNNSequenceDirectionForward;
  std::array<NS::SharedPtr<MPS::CNNConvolutionDataSource>, MPS::RNNMatrixId_count> sources;

  float p_norm = 1;                                            // of a GRU
  bool flipped = false;                                        // of a GRU
  bool diagonal_memory = false;                                // of an LSTM
  Neuron output_neuron = {MPS::CNNNeuronTypeTanH, {1, 1, 1}};  // of an LSTM
};

inline RnnDescriptorPart* body(const MPS::RNNDescriptor* descriptor) {
  return shared_part_of<RnnDescriptorPart>(const_cast<MPS::RNNDescriptor*>(descriptor));
}

}  // namespace metalloid::mps
