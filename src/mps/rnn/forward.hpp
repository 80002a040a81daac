// A layer's way through a sequence. The products of all inputs are one product; then each step has one product with the
// output of the step before (a GRU two, an LSTM with full memory weights three) and one kernel for the gates.
#pragma once

#include <functional>
#include <span>

#include "mps/rnn/sequence.hpp"

namespace metalloid::mps {

// What a layer works on: floats, [steps][rows][…]. Outputs and cells have one step more, which is what was there before
// the first: they come first or, where the sequence is run backwards, last.
struct Tape {
  size_t rows = 0, steps = 0;
  Operand gates;               // [gates * outputs]: sums, then what is kept for the gradient
  Operand outputs;             // [outputs]
  Operand cells;               // [outputs], of an LSTM
  Operand gated, input_gated;  // [outputs], of a GRU: r h0, and z h0 where it has V

  Block gates_at(const Cell& cell, size_t step) const;
  Block outputs_at(const Cell& cell, size_t step) const;
  Block cells_at(const Cell& cell, size_t step) const;
  Block gated_at(const Cell& cell, size_t step) const;
  Block input_gated_at(const Cell& cell, size_t step) const;
};

// With the memory that `memory` gives for so many bytes.
Tape new_tape(const Cell& cell, size_t rows, size_t steps, const std::function<Operand(size_t)>& memory);
bool is_complete(const Cell& cell, const Tape& tape);

// Where outputs go besides the tape: to matrices of the program's, from a column on.
struct Destination {
  const Sequence* sequence = nullptr;  // or null
  size_t column = 0;
  bool adds = false;
};

struct ForwardPass {
  const RnnLayer& layer;
  const Weights& weights;
  const Tape& tape;
  std::span<const size_t> rows;  // of each step of the tape
  Destination destination;
  size_t first_step = 0;  // of the destination
  bool is_reversed = false, keeps = false;
};
void encode_forward(Encoding& encoding, const ForwardPass& pass, Block input);

// As kernels/rnn.h has it.
struct KernelStep {
  uint32_t outputs, rows;
  uint64_t row;
  float p;
  NeuronParameters neurons[4], of_cells;
};
KernelStep for_kernel(const Cell& cell, size_t rows, size_t row_stride);

// The values of the kernels' function constants, in their order; `keeps` and `destination_gets` are the forward
// kernels', `has_ended_rows` the gradient's.
struct KernelConstants {
  bool keeps = false;
  uint32_t destination_gets = 0, part = 0;
  bool has_ended_rows = false;
};
std::vector<uint32_t> constants_of(const Cell& cell, const KernelConstants& constants);

}  // namespace metalloid::mps
