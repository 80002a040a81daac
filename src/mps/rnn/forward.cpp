#include "mps/rnn/forward.hpp"

#include <fmt/format.h>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

class Forward {
 public:
  Forward(Encoding& encoding, const ForwardPass& pass)
      : encoding_(encoding),
        pass_(pass),
        cell_(pass.layer.cell),
        recurrent_(pass.weights[size_t(Role::recurrent)]),
        memory_(pass.weights[size_t(Role::memory)]),
        biases_(pass.weights[size_t(Role::biases)].first),
        grid_(cell_.outputs, pass.tape.rows, 1),
        threads_(threads_along_row(cell_.outputs)) {
    const Destination& destination = pass.destination;
    type_ = metal_name_of(destination.sequence ? destination.sequence->type : MPS::DataTypeFloat32);
    constants_ = {.keeps = pass.keeps, .destination_gets = !destination.sequence ? 0u : destination.adds ? 2u : 1u};
    if (!is_gpu(encoding.device()) && pass.tape.steps >= least_steps_to_transpose) transpose_recurrent();
  }

  void multiply_inputs(Block input) {
    product({.rows = pass_.tape.steps * pass_.tape.rows, .columns = cell_.columns(), .interior = cell_.inputs}, input,
            pass_.weights[size_t(Role::input)], pass_.tape.gates_at(cell_, 0));
  }

  void step(size_t index) {
    const Tape& tape = pass_.tape;
    const size_t before = index + pass_.is_reversed, after = index + !pass_.is_reversed;
    const Place place{tape.gates_at(cell_, index), tape.outputs_at(cell_, before), tape.outputs_at(cell_, after)};
    Operand to;
    size_t stride = 0;
    if (const Sequence* sequence = pass_.destination.sequence) {
      const MatrixView& matrix = sequence->steps[pass_.first_step + index];
      to = matrix.first + bytes_of(matrix.type, pass_.destination.column);
      stride = matrix.strides.row;
    }
    const KernelStep step = for_kernel(cell_, pass_.rows[index], stride);
    switch (cell_.kind) {
      case CellKind::single_gate:
        return single_gate(place, to, step);
      case CellKind::gru:
        return gru(place, tape.gated_at(cell_, index), tape.input_gated_at(cell_, index), to, step);
      case CellKind::lstm:
        return lstm(place, tape.cells_at(cell_, before), tape.cells_at(cell_, after), to, step);
    }
  }

 private:
  struct Place {
    Block gates, before, after;
  };

  // Libraries on CPUs take twice as long for a thin product with a matrix whose columns they must gather.
  void transpose_recurrent() {
    const size_t columns = cell_.columns();
    transposed_ = {encoding_.scratch(columns * cell_.outputs * sizeof(float)), columns};
    if (transposed_.first.buffer)
      encoding_.dispatch({"rnn_transpose"}, MTL::Size(columns, cell_.outputs, 1), threads_along_row(columns),
                         recurrent_.first, transposed_.first, uint64_t(recurrent_.stride));
  }

  void single_gate(const Place& place, Operand to, const KernelStep& step) {
    add_recurrent(place.before, 0, place.gates, cell_.outputs);
    dispatch("rnn_single_gate", place.gates.first, biases_, place.before.first, place.after.first, to, step);
  }

  void gru(const Place& place, Block gated, Block input_gated, Operand to, const KernelStep& step) {
    const size_t n = cell_.outputs;
    add_recurrent(place.before, 0, place.gates, 2 * n);
    encoding_.dispatch({"rnn_gru_gates", constants_of(cell_, constants_)}, grid_, threads_, place.gates.first, biases_,
                       place.before.first, gated.first, input_gated.first, step);
    add_recurrent(gated, 2 * n, place.gates, n);
    if (cell_.memory != MemoryWeights::none) add(input_gated, memory_, place.gates.column(2 * n), n);
    dispatch("rnn_gru_output", place.gates.first, biases_, place.before.first, place.after.first, to, step);
  }

  void lstm(const Place& place, Block old_cells, Block cells, Operand to, const KernelStep& step) {
    const size_t n = cell_.outputs;
    add_recurrent(place.before, 0, place.gates, 4 * n);
    const auto dispatch_part = [&](uint32_t part) {
      constants_.part = part;
      dispatch("rnn_lstm", place.gates.first, biases_, memory_.first, old_cells.first, cells.first, place.before.first,
               place.after.first, to, step);
    };
    if (cell_.memory != MemoryWeights::full) return dispatch_part(0);
    add(old_cells, memory_, place.gates, 3 * n);
    dispatch_part(1);
    add(cells, memory_.row(3 * n), place.gates.column(3 * n), n);
    dispatch_part(2);
  }

  // The product with recurrent weights, for so many sums of gates from the first one on.
  void add_recurrent(Block state, size_t first, Block gates, size_t columns) {
    if (!transposed_.first.buffer) return add(state, recurrent_.row(first), gates.column(first), columns);
    encode_product(encoding_, pass_.layer,
                   {.rows = pass_.tape.rows, .columns = columns, .interior = cell_.outputs, .beta = 1}, state,
                   transposed_.column(first), gates.column(first));
  }

  // sums += state * weights^T, of one step.
  void add(Block state, Block weights, Block sums, size_t columns) {
    product({.rows = pass_.tape.rows, .columns = columns, .interior = cell_.outputs, .beta = 1}, state, weights, sums);
  }

  void product(BlockProduct product, Block left, Block right, Block result) {
    product.transpose_right = true;
    encode_product(encoding_, pass_.layer, product, left, right, result);
  }

  template <class... Values>
  void dispatch(const char* name, const Values&... values) {
    encoding_.dispatch({fmt::format("{}_{}", name, type_), constants_of(cell_, constants_)}, grid_, threads_,
                       values...);
  }

  Encoding& encoding_;
  const ForwardPass& pass_;
  const Cell& cell_;
  static constexpr size_t least_steps_to_transpose = 4;
  const Block recurrent_, memory_;
  Block transposed_;  // recurrent weights; none where they are used as they are
  const Operand biases_;
  const MTL::Size grid_, threads_;
  const char* type_;
  KernelConstants constants_;
};

}  // namespace

Block Tape::gates_at(const Cell& cell, size_t step) const {
  return Block{gates, cell.columns()}.row(step * rows);
}
Block Tape::outputs_at(const Cell& cell, size_t step) const {
  return Block{outputs, cell.outputs}.row(step * rows);
}
Block Tape::cells_at(const Cell& cell, size_t step) const {
  return Block{cells, cell.outputs}.row(step * rows);
}
Block Tape::gated_at(const Cell& cell, size_t step) const {
  return Block{gated, cell.outputs}.row(step * rows);
}
Block Tape::input_gated_at(const Cell& cell, size_t step) const {
  return Block{input_gated, cell.outputs}.row(step * rows);
}

Tape new_tape(const Cell& cell, size_t rows, size_t steps, const std::function<Operand(size_t)>& memory) {
  const size_t step_bytes = rows * cell.outputs * sizeof(float);
  Tape tape;
  tape.rows = rows;
  tape.steps = steps;
  tape.gates = memory(steps * step_bytes * cell.gates());
  tape.outputs = memory((steps + 1) * step_bytes);
  if (cell.kind == CellKind::lstm) tape.cells = memory((steps + 1) * step_bytes);
  if (cell.kind == CellKind::gru) {
    tape.gated = memory(steps * step_bytes);
    if (cell.memory != MemoryWeights::none) tape.input_gated = memory(steps * step_bytes);
  }
  return tape;
}

bool is_complete(const Cell& cell, const Tape& tape) {
  return tape.gates.buffer && tape.outputs.buffer && (cell.kind != CellKind::lstm || tape.cells.buffer) &&
         (cell.kind != CellKind::gru ||
          (tape.gated.buffer && (cell.memory == MemoryWeights::none || tape.input_gated.buffer)));
}

void encode_forward(Encoding& encoding, const ForwardPass& pass, Block input) {
  Forward forward(encoding, pass);
  forward.multiply_inputs(input);
  for (size_t i = 0; i < pass.tape.steps; ++i) forward.step(pass.is_reversed ? pass.tape.steps - 1 - i : i);
}

KernelStep for_kernel(const Cell& cell, size_t rows, size_t row_stride) {
  KernelStep step{uint32_t(cell.outputs), uint32_t(rows), row_stride, cell.p_norm, {}, cell.output_neuron.parameters};
  for (size_t i = 0; i < cell.neurons.size(); ++i) step.neurons[i] = cell.neurons[i].parameters;
  return step;
}

std::vector<uint32_t> constants_of(const Cell& cell, const KernelConstants& constants) {
  const bool has_memory_weights =
      cell.kind == CellKind::gru ? cell.memory != MemoryWeights::none : cell.memory == MemoryWeights::diagonal;
  return {uint32_t(cell.neurons[0].type),
          uint32_t(cell.neurons[1].type),
          uint32_t(cell.neurons[2].type),
          uint32_t(cell.neurons[3].type),
          uint32_t(cell.output_neuron.type),
          constants.keeps,
          constants.destination_gets,
          has_memory_weights,
          constants.part,
          cell.flipped,
          cell.p_norm != 1,
          constants.has_ended_rows};
}

}  // namespace metalloid::mps
