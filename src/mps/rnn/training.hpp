// The training layer: its data, and the two passes over a sequence.
#pragma once

#include "mps/rnn/gradient.hpp"
#include "mps/rnn/state.hpp"

namespace metalloid::mps {

class RnnTrainingPart : public KernelPart {
 public:
  std::shared_ptr<const RnnLayer> layer;
  bool stores_all_states = false, states_are_temporary = false, training_states_are_temporary = false;
  bool accumulates = false;
};

// The program's matrices for each role, which have at least the size of the layer's; empty where the cell has none.
std::array<MatrixView, role_count> weight_views(Arguments& arguments, const Cell& cell, const NS::Array* matrices,
                                                const char* name);

// As the methods of the interface have them.
struct SequenceArgument {
  const NS::Array* matrices;
  const NS::UInteger* offsets;
};

struct ForwardArguments {
  SequenceArgument sources, destinations;
  NS::Array** training_states;
  const MPS::RNNRecurrentMatrixState* input_state;
  NS::Array** output_states;
  const NS::Array* weights;
};
void encode_forward(Encoding& encoding, const RnnTrainingPart& self, const ForwardArguments& given);

struct GradientArguments {
  SequenceArgument sources, gradients, destinations;
  const NS::Array *weight_gradients, *training_states, *weights;
  const MPS::RNNRecurrentMatrixState* input_state;
  NS::Array** output_states;
};
void encode_gradient(Encoding& encoding, const RnnTrainingPart& self, const GradientArguments& given);

}  // namespace metalloid::mps
