#include "mps/rnn/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/device_kind.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

class Backward {
 public:
  Backward(Encoding& encoding, const GradientPass& pass)
      : encoding_(encoding),
        pass_(pass),
        cell_(pass.layer.cell),
        recurrent_(pass.weights[size_t(Role::recurrent)]),
        memory_(pass.weights[size_t(Role::memory)]),
        outputs_back_{pass.state.outputs, cell_.outputs},
        cells_back_{pass.state.cells, cell_.outputs},
        grid_(cell_.outputs, pass.tape.rows, 1),
        threads_(threads_along_row(cell_.outputs)),
        type_(metal_name_of(pass.gradients.type)) {
    constants_.has_ended_rows = std::ranges::any_of(pass.rows, [&](size_t rows) { return rows < pass.tape.rows; });
    if (cell_.kind != CellKind::gru) return;
    const size_t bytes = pass.tape.rows * cell_.outputs * sizeof(float);
    gated_back_ = {encoding.scratch(bytes), cell_.outputs};
    if (cell_.memory != MemoryWeights::none) input_gated_back_ = {encoding.scratch(bytes), cell_.outputs};
  }

  void step(size_t index, Block gates_back) {
    const MatrixView& matrix = pass_.gradients.steps[pass_.first_step + index];
    const KernelStep step = for_kernel(cell_, pass_.rows[index], matrix.strides.row);
    needs_state_ = index > 0 || pass_.needs_first_state;
    const size_t on_tape = pass_.first_tape_step + index;
    switch (cell_.kind) {
      case CellKind::single_gate:
        return single_gate(on_tape, gates_back, matrix.first, step);
      case CellKind::gru:
        return gru(on_tape, gates_back, matrix.first, step);
      case CellKind::lstm:
        return lstm(on_tape, gates_back, matrix.first, step);
    }
  }

 private:
  void single_gate(size_t index, Block gates_back, Operand gradient, const KernelStep& step) {
    dispatch("rnn_single_gate_gradient", pass_.tape.gates_at(cell_, index).first, gates_back.first, outputs_back_.first,
             gradient, step);
    to_step_before(gates_back, cell_.outputs);
  }

  void gru(size_t index, Block gates_back, Operand gradient, const KernelStep& step) {
    const Tape& tape = pass_.tape;
    const size_t n = cell_.outputs;
    dispatch("rnn_gru_output_gradient", tape.gates_at(cell_, index).first, gates_back.first,
             tape.outputs_at(cell_, index).first, outputs_back_.first, gradient, step);
    product(gates_back.column(2 * n), n, recurrent_.row(2 * n), gated_back_, 0);
    if (cell_.memory != MemoryWeights::none) product(gates_back.column(2 * n), n, memory_, input_gated_back_, 0);
    encoding_.dispatch({"rnn_gru_gates_gradient", constants_of(cell_, constants_)}, grid_, threads_,
                       tape.gates_at(cell_, index).first, gates_back.first, tape.outputs_at(cell_, index).first,
                       gated_back_.first, input_gated_back_.first, outputs_back_.first, step);
    to_step_before(gates_back, 2 * n);
  }

  void lstm(size_t index, Block gates_back, Operand gradient, const KernelStep& step) {
    const Tape& tape = pass_.tape;
    const size_t n = cell_.outputs;
    const auto dispatch_part = [&](uint32_t part) {
      constants_.part = part;
      dispatch("rnn_lstm_gradient", tape.gates_at(cell_, index).first, gates_back.first, memory_.first,
               tape.cells_at(cell_, index).first, tape.cells_at(cell_, index + 1).first, outputs_back_.first,
               cells_back_.first, gradient, step);
    };
    if (cell_.memory != MemoryWeights::full) {
      dispatch_part(0);
    } else {
      dispatch_part(1);
      product(gates_back.column(3 * n), n, memory_.row(3 * n), cells_back_, 1);
      dispatch_part(2);
      product(gates_back, 3 * n, memory_, cells_back_, 1);
    }
    to_step_before(gates_back, 4 * n);
  }

  // What the gates want of the output of the step before. A GRU, and sequences that have ended, have something there
  // already.
  void to_step_before(Block gates_back, size_t columns) {
    if (!needs_state_) return;
    const bool adds = cell_.kind == CellKind::gru || constants_.has_ended_rows;
    product(gates_back, columns, recurrent_, outputs_back_, adds ? 1 : 0);
  }

  // back = gates_back * weights + beta * back, of the first so many columns of gates.
  void product(Block gates_back, size_t columns, Block weights, Block back, double beta) {
    encode_product(encoding_, pass_.layer,
                   {.rows = pass_.tape.rows, .columns = cell_.outputs, .interior = columns, .beta = beta}, gates_back,
                   weights, back);
  }

  template <class... Values>
  void dispatch(const char* name, const Values&... values) {
    encoding_.dispatch({fmt::format("{}_{}", name, type_), constants_of(cell_, constants_)}, grid_, threads_,
                       values...);
  }

  Encoding& encoding_;
  const GradientPass& pass_;
  const Cell& cell_;
  const Block recurrent_, memory_, outputs_back_, cells_back_;
  Block gated_back_, input_gated_back_;
  const MTL::Size grid_, threads_;
  const char* type_;
  bool needs_state_ = true;
  KernelConstants constants_;
};

// As kernels/rnn_rows.metal has it.
struct Sums {
  uint32_t rows, columns;
  uint64_t row, factors_row;
};

// Gradients of weights: sums over all steps and rows.
class WeightSums {
 public:
  WeightSums(Encoding& encoding, const GradientPass& pass, bool accumulates)
      : encoding_(encoding), pass_(pass), count_(pass.rows.size() * pass.tape.rows), accumulates_(accumulates) {}

  // gradient = gates_back^T * state, of so many columns of gates.
  void products(Block gates_back, size_t columns, Block state, size_t state_columns, const WeightGradient& gradient,
                size_t first_row) {
    const size_t number = bits_of(gradient.type) / 8;
    const Block result{gradient.block.first + first_row * gradient.block.stride * number, gradient.block.stride};
    encode_product(encoding_, pass_.layer,
                   {.rows = columns,
                    .columns = state_columns,
                    .interior = count_,
                    .transpose_left = true,
                    .beta = accumulates_ ? 1.0 : 0.0,
                    .result_type = gradient.type},
                   gates_back, state, result);
  }

  // Each column's sum, or that of its products with a state's.
  void sums(Block gates_back, size_t columns, const Block* state, const WeightGradient& gradient, size_t first_column) {
    const size_t simdgroups = is_gpu(encoding_.device()) ? 16 : 1;
    encoding_.dispatch({fmt::format("rnn_sums_{}", metal_name_of(gradient.type)), {state != nullptr, accumulates_}},
                       MTL::Size((columns + 31) / 32 * 32 * simdgroups, 1, 1), MTL::Size(32 * simdgroups, 1, 1),
                       gates_back.first, state ? state->first : Operand{},
                       gradient.block.first + bytes_of(gradient.type, first_column),
                       Sums{uint32_t(count_), uint32_t(columns), gates_back.stride, state ? state->stride : 0});
  }

 private:
  Encoding& encoding_;
  const GradientPass& pass_;
  const size_t count_;
  const bool accumulates_;
};

void clear_parts_not_given(Encoding& encoding, const Cell& cell, const WeightGradients& gradients) {
  for (const WeightPart& part : parts_not_given(cell)) {
    const WeightGradient& gradient = gradients[size_t(part.role)];
    const size_t number = bits_of(gradient.type) / 8, row_bytes = gradient.block.stride * number;
    for (size_t row = 0; row < part.rows; ++row)
      encode_zeros(encoding, gradient.block.first + (part.row + row) * row_bytes + part.column * number,
                   part.columns * number);
  }
}

}  // namespace

void encode_gates_gradient(Encoding& encoding, const GradientPass& pass, Block gates_back,
                           const std::function<void(size_t)>& after_step) {
  Backward backward(encoding, pass);
  for (size_t i = pass.rows.size(); i-- > 0;) {
    backward.step(i, gates_back.row(i * pass.tape.rows));
    after_step(i);
  }
}

void encode_weight_gradients(Encoding& encoding, const GradientPass& pass, Block gates_back, Block input,
                             const WeightGradients& gradients, bool accumulates) {
  const Cell& cell = pass.layer.cell;
  const size_t n = cell.outputs, columns = cell.columns(), first = pass.first_tape_step;
  const Block before = pass.tape.outputs_at(cell, first);
  const WeightGradient& recurrent = gradients[size_t(Role::recurrent)];
  const WeightGradient& memory = gradients[size_t(Role::memory)];
  WeightSums sums(encoding, pass, accumulates);
  if (!cell.input_is_unit) sums.products(gates_back, columns, input, cell.inputs, gradients[size_t(Role::input)], 0);
  sums.sums(gates_back, columns, nullptr, gradients[size_t(Role::biases)], 0);
  if (cell.kind == CellKind::gru) {
    const Block output_gate = gates_back.column(2 * n);
    sums.products(gates_back, 2 * n, before, n, recurrent, 0);
    sums.products(output_gate, n, pass.tape.gated_at(cell, first), n, recurrent, 2 * n);
    if (cell.memory != MemoryWeights::none)
      sums.products(output_gate, n, pass.tape.input_gated_at(cell, first), n, memory, 0);
  } else {
    sums.products(gates_back, columns, before, n, recurrent, 0);
  }
  if (cell.kind == CellKind::lstm && cell.memory != MemoryWeights::none) {
    const Block old_cells = pass.tape.cells_at(cell, first), cells = pass.tape.cells_at(cell, first + 1);
    if (cell.memory == MemoryWeights::full) {
      sums.products(gates_back, 3 * n, old_cells, n, memory, 0);
      sums.products(gates_back.column(3 * n), n, cells, n, memory, 3 * n);
    } else {
      for (size_t gate = 0; gate < 4; ++gate)
        sums.sums(gates_back.column(gate * n), n, gate == 3 ? &cells : &old_cells, memory, gate * n);
    }
  }
  clear_parts_not_given(encoding, cell, gradients);
}

void encode_input_gradient(Encoding& encoding, const GradientPass& pass, Block gates_back, Block input_back) {
  const Cell& cell = pass.layer.cell;
  encode_product(encoding, pass.layer,
                 {.rows = pass.rows.size() * pass.tape.rows, .columns = cell.inputs, .interior = cell.columns()},
                 gates_back, pass.weights[size_t(Role::input)], input_back);
}

}  // namespace metalloid::mps
