// A layer's way back through a sequence. Each step has one kernel for the gates and one product that takes their
// gradients to the step before (a GRU two, an LSTM with full memory weights three); the gradients of all inputs, and of
// the weights over all steps, are one product each.
#pragma once

#include "mps/rnn/forward.hpp"

namespace metalloid::mps {

// What goes back from step to step.
struct BackwardState {
  Operand outputs, cells;  // [rows][outputs], floats; cells of an LSTM
};

struct GradientPass {
  const RnnLayer& layer;
  const Weights& weights;
  const Tape& tape;              // of the forward pass
  size_t first_tape_step = 0;    // of the part of the tape that is gone back
  std::span<const size_t> rows;  // of the steps that are gone back
  const Sequence& gradients;     // of the outputs; its steps from first_step on
  size_t first_step = 0;
  BackwardState state;
  bool needs_first_state = true;  // or the last product is left out
};

// The gradients of the gates' sums, [steps][rows][gates * outputs]; `after_step` is called when the state has what goes
// to the step before, with the index of the step.
void encode_gates_gradient(Encoding& encoding, const GradientPass& pass, Block gates_back,
                           const std::function<void(size_t)>& after_step);

// A matrix that gradients of weights of a role are written to, or added to.
struct WeightGradient {
  Block block;
  MPS::DataType type = MPS::DataTypeFloat32;
};
using WeightGradients = std::array<WeightGradient, role_count>;

void encode_weight_gradients(Encoding& encoding, const GradientPass& pass, Block gates_back, Block input,
                             const WeightGradients& gradients, bool accumulates);

// input_back = gates_back * W
void encode_input_gradient(Encoding& encoding, const GradientPass& pass, Block gates_back, Block input_back);

}  // namespace metalloid::mps
