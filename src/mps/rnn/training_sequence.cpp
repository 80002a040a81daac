// Training's passes over a sequence: forward, keeping what the gradient needs, and back through time.
#include <algorithm>

#include "foundation/array.hpp"
#include "mps/core/data_type.hpp"
#include "mps/core/temporary_memory.hpp"
#include "mps/rnn/training.hpp"

namespace metalloid::mps {
namespace {

using States = std::vector<NS::SharedPtr<MPS::RNNRecurrentMatrixState>>;

Weights weights_of(Arguments& arguments, const RnnLayer& layer, const NS::Array* matrices) {
  const std::array<MatrixView, role_count> views = weight_views(arguments, layer.cell, matrices, "weights");
  Weights weights;
  for (size_t role = 0; role < role_count && arguments; ++role) {
    if (!views[role].object) continue;
    arguments.require(views[role].type == MPS::DataTypeFloat32,
                      "weights has matrices of type {}, and must have Float32", name_of(views[role].type));
    weights[role] = {views[role].first, views[role].strides.row};
  }
  if (layer.cell.input_is_unit) weights[size_t(Role::input)] = layer.weights()[size_t(Role::input)];
  return weights;
}

std::shared_ptr<TrainingRecord> new_record(Encoding& encoding, const Cell& cell, size_t rows,
                                           const std::vector<size_t>& rows_of_steps, bool is_temporary) {
  auto record = std::make_shared<TrainingRecord>();
  record->cell = cell;
  record->rows = rows_of_steps;
  if (is_temporary) record->home = temporary_home(encoding.command_buffer());
  record->unread_states = rows_of_steps.size();
  record->tape = new_tape(cell, rows, rows_of_steps.size(), [&](size_t bytes) {
    record->buffers.push_back(
        is_temporary ? NS::RetainPtr(temporary_buffer(encoding.command_buffer(), bytes))
                     : NS::TransferPtr(encoding.device()->newBuffer(bytes, MTL::ResourceStorageModePrivate)));
    return Operand{record->buffers.back().get()};
  });
  if (is_complete(cell, record->tape)) return record;
  encoding.fail("there is no memory for the training states");
  return nullptr;
}

// From a state's matrix, or zeros.
void set_state(Encoding& encoding, Operand to, const MPS::Matrix* given, size_t bytes) {
  if (given)
    encode_bytes(encoding, body(given)->at(0, 0, 0), to, bytes);
  else
    encode_zeros(encoding, to, bytes);
}

// A state with copies of what is there now; false where there is no memory.
bool add_state(Encoding& encoding, const RnnTrainingPart& self, size_t rows, Operand outputs, Operand cells,
               States& states) {
  const Cell& cell = self.layer->cell;
  auto state = new_recurrent_state(encoding, {&cell}, rows, self.states_are_temporary);
  if (!state) return false;
  const RecurrentStatePart::Layer& layer = body(state.get())->layers[0];
  const size_t bytes = rows * cell.outputs * sizeof(float);
  encode_bytes(encoding, outputs, body(layer.outputs.get())->at(0, 0, 0), bytes);
  if (layer.cells) encode_bytes(encoding, cells, body(layer.cells.get())->at(0, 0, 0), bytes);
  states.push_back(std::move(state));
  return true;
}

std::vector<TrainingStatePart*> training_states_of(Arguments& arguments, const Encoding& encoding, const Cell& cell,
                                                   const NS::Array* array, size_t steps) {
  std::vector<TrainingStatePart*> states;
  arguments.require(array && array->count() == steps, "trainingStates has {} states, and there are {} sourceGradients",
                    array ? array->count() : 0, steps);
  for (size_t i = 0; i < steps && arguments; ++i) {
    auto* state = foundation::element_of<MPS::RNNMatrixTrainingState>(array, i);
    arguments.require(state != nullptr, "trainingStates[{}] is no training state", i);
    if (!arguments) break;
    states.push_back(body(state));
    is_usable(arguments, encoding, *states.back(), "a training state");
    arguments.require(states.back()->record->cell == cell, "trainingStates[{}] is of another layer", i);
    arguments.require(states.back()->record->tape.rows == states.front()->record->tape.rows,
                      "trainingStates[{}] is of {} sequences, and the first one of {}", i,
                      states.back()->record->tape.rows, states.front()->record->tape.rows);
  }
  return states;
}

// States of one forward pass, one after the other.
std::vector<StepRange> runs_of(const std::vector<TrainingStatePart*>& states) {
  std::vector<StepRange> runs;
  for (size_t i = 0; i < states.size(); ++i) {
    const bool goes_on =
        i > 0 && states[i]->record == states[i - 1]->record && states[i]->step == states[i - 1]->step + 1;
    if (!goes_on) runs.push_back({i, 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

std::array<MatrixView, role_count> weight_views(Arguments& arguments, const Cell& cell, const NS::Array* matrices,
                                                const char* name) {
  std::array<MatrixView, role_count> views;
  const std::vector<Role> roles = trained_roles(cell);
  arguments.require(matrices && matrices->count() == roles.size(), "{} has {} matrices, and the layer has {}", name,
                    matrices ? matrices->count() : 0, roles.size());
  for (size_t i = 0; i < roles.size() && arguments; ++i) {
    const std::string own_name = fmt::format("{}[{}]", name, i);
    const MatrixSize size = size_of(cell, roles[i]);
    MatrixView& view = views[size_t(roles[i])];
    view = arguments.matrix(foundation::element_of<MPS::Matrix>(matrices, i), {0, 0, 0}, own_name.c_str());
    arguments.is_floating_point(view.type, own_name.c_str());
    arguments.has_room(view, size.rows, size.columns, own_name.c_str());
  }
  return views;
}

void encode_forward(Encoding& encoding, const RnnTrainingPart& self, const ForwardArguments& given) {
  const Cell& cell = self.layer->cell;
  Arguments arguments(encoding);
  const Weights weights = weights_of(arguments, *self.layer, given.weights);
  const Sequence source =
      sequence_of(arguments, given.sources.matrices, given.sources.offsets, cell.inputs, "sourceMatrices");
  has_falling_rows(arguments, source, "sourceMatrices");
  const std::vector<size_t> rows_of_steps = source.rows();
  Sequence result = sequence_of(arguments, given.destinations.matrices, given.destinations.offsets, cell.outputs,
                                "destinationMatrices");
  fit_to_rows(arguments, result, rows_of_steps, "destinationMatrices");
  is_apart(arguments, source, result, "destinationMatrices");
  arguments.require(given.training_states != nullptr, "trainingStates is null");
  RecurrentStatePart* before = body(given.input_state);
  if (before && arguments) {
    fits(arguments, *before, {&cell}, rows_of_steps[0]);
    is_usable(arguments, encoding, *before, "recurrentInputState");
  }
  if (!encoding.check(arguments.status())) return;

  const size_t rows = before ? before->rows : rows_of_steps[0], steps = rows_of_steps.size();
  const auto record = new_record(encoding, cell, rows, rows_of_steps, self.training_states_are_temporary);
  if (!record) return;
  const Tape& tape = record->tape;
  const size_t bytes = rows * cell.outputs * sizeof(float);
  set_state(encoding, tape.outputs, before ? before->layers[0].outputs.get() : nullptr, bytes);
  if (cell.kind == CellKind::lstm)
    set_state(encoding, tape.cells, before ? before->layers[0].cells.get() : nullptr, bytes);
  Operand room;
  const Block input = gathered(encoding, source, {0, steps}, rows, cell.inputs, room);
  if (!input.first.buffer) return;
  mps::encode_forward(encoding,
                      {.layer = *self.layer,
                       .weights = weights,
                       .tape = tape,
                       .rows = rows_of_steps,
                       .destination = {.sequence = &result},
                       .keeps = true},
                      input);

  if (cell.input_is_unit) encoding.keep(self.layer->matrices[size_t(Role::input)].get());

  States states;
  if (given.output_states) {
    for (size_t i = self.stores_all_states ? 0 : steps - 1; i < steps; ++i)
      if (!add_state(encoding, self, rows, tape.outputs_at(cell, i + 1).first, tape.cells_at(cell, i + 1).first,
                     states))
        return;
    *given.output_states = array_of(states);
  }
  std::vector<NS::SharedPtr<MPS::RNNMatrixTrainingState>> kept;
  for (size_t i = 0; i < steps; ++i) {
    auto* state = new Object<MPS::RNNMatrixTrainingState, TrainingStatePart>("MPSRNNMatrixTrainingState");
    kept.push_back(NS::TransferPtr<MPS::RNNMatrixTrainingState>(state));
    state->set_device(encoding.device(), self.training_states_are_temporary ? encoding.command_buffer() : nullptr);
    state->record = record;
    state->step = i;
  }
  *given.training_states = array_of(kept);
  if (before) before->was_read();
  source.was_read();
}

void encode_gradient(Encoding& encoding, const RnnTrainingPart& self, const GradientArguments& given) {
  const RnnLayer& layer = *self.layer;
  const Cell& cell = layer.cell;
  Arguments arguments(encoding);
  const Weights weights = weights_of(arguments, layer, given.weights);
  const Sequence gradients =
      sequence_of(arguments, given.gradients.matrices, given.gradients.offsets, cell.outputs, "sourceGradients");
  const size_t steps = gradients.steps.size();
  const std::vector<TrainingStatePart*> states =
      training_states_of(arguments, encoding, cell, given.training_states, steps);
  std::vector<size_t> rows_of_steps;
  for (const TrainingStatePart* state : states) rows_of_steps.push_back(state->record->rows[state->step]);
  Sequence checked = gradients;
  fit_to_rows(arguments, checked, rows_of_steps, "sourceGradients");
  Sequence sources =
      sequence_of(arguments, given.sources.matrices, given.sources.offsets, cell.inputs, "forwardSources");
  fit_to_rows(arguments, sources, rows_of_steps, "forwardSources");
  Sequence results;
  if (given.destinations.matrices) {
    results = sequence_of(arguments, given.destinations.matrices, given.destinations.offsets, cell.inputs,
                          "destinationGradients");
    fit_to_rows(arguments, results, rows_of_steps, "destinationGradients");
  }
  WeightGradients weight_gradients;
  if (given.weight_gradients) {
    const auto views = weight_views(arguments, cell, given.weight_gradients, "weightGradients");
    for (size_t role = 0; role < role_count; ++role)
      weight_gradients[role] = {{views[role].first, views[role].strides.row}, views[role].type};
  }
  RecurrentStatePart* after = body(given.input_state);
  if (after && arguments) {
    fits(arguments, *after, {&cell}, states[0]->record->tape.rows);
    is_usable(arguments, encoding, *after, "recurrentInputState");
  }
  if (!encoding.check(arguments.status())) return;

  const size_t rows = states[0]->record->tape.rows, bytes = rows * cell.outputs * sizeof(float);
  const bool is_lstm = cell.kind == CellKind::lstm;
  const BackwardState back{encoding.scratch(bytes), is_lstm ? encoding.scratch(bytes) : Operand{}};
  if (!back.outputs.buffer || (is_lstm && !back.cells.buffer)) return;
  set_state(encoding, back.outputs, after ? after->layers[0].outputs.get() : nullptr, bytes);
  if (is_lstm) set_state(encoding, back.cells, after ? after->layers[0].cells.get() : nullptr, bytes);

  if (cell.input_is_unit) encoding.keep(layer.matrices[size_t(Role::input)].get());

  const std::vector<StepRange> runs = runs_of(states);
  States output_states;
  bool has_states = true;
  for (size_t i = runs.size(); i-- > 0;) {
    const StepRange run = runs[i];
    const GradientPass pass{.layer = layer,
                            .weights = weights,
                            .tape = states[run.first]->record->tape,
                            .first_tape_step = states[run.first]->step,
                            .rows = std::span(rows_of_steps).subspan(run.first, run.count),
                            .gradients = checked,
                            .first_step = run.first,
                            .state = back,
                            .needs_first_state = run.first > 0 || given.output_states};
    const Block gates_back{encoding.scratch(run.count * rows * cell.columns() * sizeof(float)), cell.columns()};
    if (!gates_back.first.buffer) return;
    encode_gates_gradient(encoding, pass, gates_back, [&](size_t step) {
      const bool is_wanted = given.output_states && (self.stores_all_states || run.first + step == 0);
      if (is_wanted && has_states)
        has_states = add_state(encoding, self, rows, back.outputs, back.cells, output_states);
    });
    if (given.weight_gradients) {
      Operand room;
      const Block input = cell.input_is_unit ? Block{} : gathered(encoding, sources, run, rows, cell.inputs, room);
      if (!cell.input_is_unit && !input.first.buffer) return;
      encode_weight_gradients(encoding, pass, gates_back, input, weight_gradients,
                              self.accumulates || i + 1 < runs.size());
    }
    if (given.destinations.matrices) {
      const Block input_back = room_for(encoding, results, run, rows, cell.inputs);
      if (!input_back.first.buffer) return;
      encode_input_gradient(encoding, pass, gates_back, input_back);
      scatter(encoding, input_back, results, run, rows, cell.inputs);
    }
  }
  if (!has_states) return;
  if (given.output_states) {
    std::ranges::reverse(output_states);
    *given.output_states = array_of(output_states);
  }
  for (TrainingStatePart* state : states) {
    state->was_read();
    if (state->home && state->read_count == 0) state->record->state_was_read();
  }
  if (after) after->was_read();
  sources.was_read();
  gradients.was_read();
}

}  // namespace metalloid::mps
