// Training of a layer: forward passes that keep what their gradients need, and gradients through time. The weights are
// in matrices of the program's.
#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/properties.hpp"
#include "mps/core/temporary_memory.hpp"
#include "mps/rnn/gradient.hpp"
#include "mps/rnn/state.hpp"

namespace metalloid::mps {

class RnnTrainingPart : public KernelPart {
 public:
  std::shared_ptr<const RnnLayer> layer;
  bool stores_all_states = false, states_are_temporary = false, training_states_are_temporary = false;
  bool accumulates = false;
};

namespace {

struct SequenceArgument {
  const NS::Array* matrices;
  const NS::UInteger* offsets;
};

using States = std::vector<NS::SharedPtr<MPS::RNNRecurrentMatrixState>>;

// The program's matrices for each role, which have at least the size of the layer's; empty where the cell has none.
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
    view = arguments.matrix(matrices->object<MPS::Matrix>(i), {0, 0, 0}, own_name.c_str());
    arguments.is_floating_point(view.type, own_name.c_str());
    arguments.has_room(view, size.rows, size.columns, own_name.c_str());
  }
  return views;
}

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

void is_usable(Arguments& arguments, const Encoding& encoding, const StatePart& state, const char* name) {
  arguments.require(!state.command_buffer || state.command_buffer == encoding.command_buffer(),
                    "{} is temporary, and of another command buffer", name);
}

std::shared_ptr<TrainingRecord> new_record(Encoding& encoding, const Cell& cell, size_t rows,
                                           const std::vector<size_t>& rows_of_steps, bool is_temporary) {
  auto record = std::make_shared<TrainingRecord>();
  record->cell = cell;
  record->rows = rows_of_steps;
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

void encode_forward(Encoding& encoding, const RnnTrainingPart& self, SequenceArgument sources,
                    SequenceArgument destinations, NS::Array** training_states,
                    const MPS::RNNRecurrentMatrixState* input_state, NS::Array** output_states,
                    const NS::Array* weight_matrices) {
  const Cell& cell = self.layer->cell;
  Arguments arguments;
  const Weights weights = weights_of(arguments, *self.layer, weight_matrices);
  const Sequence source = sequence_of(arguments, sources.matrices, sources.offsets, cell.inputs, "sourceMatrices");
  has_falling_rows(arguments, source, "sourceMatrices");
  const std::vector<size_t> rows_of_steps = source.rows();
  Sequence result =
      sequence_of(arguments, destinations.matrices, destinations.offsets, cell.outputs, "destinationMatrices");
  fit_to_rows(arguments, result, rows_of_steps, "destinationMatrices");
  arguments.require(training_states != nullptr, "trainingStates is null");
  RecurrentStatePart* before = body(input_state);
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
  const Block input = gathered(encoding, source, {0, steps}, rows, cell.inputs);
  if (!input.first.buffer) return;
  mps::encode_forward(encoding,
                      {.layer = *self.layer,
                       .weights = weights,
                       .tape = tape,
                       .rows = rows_of_steps,
                       .destination = {.sequence = &result},
                       .keeps = true},
                      input);

  States states;
  if (output_states) {
    for (size_t i = self.stores_all_states ? 0 : steps - 1; i < steps; ++i)
      if (!add_state(encoding, self, rows, tape.outputs_at(cell, i + 1).first, tape.cells_at(cell, i + 1).first,
                     states))
        return;
    *output_states = array_of(states);
  }
  std::vector<NS::SharedPtr<MPS::RNNMatrixTrainingState>> kept;
  for (size_t i = 0; i < steps; ++i) {
    auto* state = new Object<MPS::RNNMatrixTrainingState, TrainingStatePart>("MPSRNNMatrixTrainingState");
    kept.push_back(NS::TransferPtr<MPS::RNNMatrixTrainingState>(state));
    state->set_device(encoding.device(), self.training_states_are_temporary ? encoding.command_buffer() : nullptr);
    state->record = record;
    state->step = i;
  }
  *training_states = array_of(kept);
  if (before) before->was_read();
  source.was_read();
}

std::vector<TrainingStatePart*> training_states_of(Arguments& arguments, const Encoding& encoding, const Cell& cell,
                                                   const NS::Array* array, size_t steps) {
  std::vector<TrainingStatePart*> states;
  arguments.require(array && array->count() == steps, "trainingStates has {} states, and there are {} sourceGradients",
                    array ? array->count() : 0, steps);
  for (size_t i = 0; i < steps && arguments; ++i) {
    states.push_back(body(array->object<MPS::RNNMatrixTrainingState>(i)));
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

struct GradientArguments {
  SequenceArgument sources, gradients, destinations;
  const NS::Array *weight_gradients, *training_states, *weights;
  const MPS::RNNRecurrentMatrixState* input_state;
  NS::Array** output_states;
};

void encode_gradient(Encoding& encoding, const RnnTrainingPart& self, const GradientArguments& given) {
  const RnnLayer& layer = *self.layer;
  const Cell& cell = layer.cell;
  Arguments arguments;
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
      const Block input = cell.input_is_unit ? Block{} : gathered(encoding, sources, run, rows, cell.inputs);
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
  for (TrainingStatePart* state : states) state->was_read();
  if (after) after->was_read();
  sources.was_read();
  gradients.was_read();
}

void encode_copy_weights(Encoding& encoding, const RnnTrainingPart& self, const NS::Array* weights, MPS::RNNMatrixId id,
                         const MPS::Matrix* matrix, bool from_weights, MTL::Origin origin) {
  const Cell& cell = self.layer->cell;
  Arguments arguments;
  const auto views = weight_views(arguments, cell, weights, "weights");
  const std::optional<WeightPart> part = part_of_weights(cell, id);
  arguments.require(part.has_value(), "matrixId ({}) is of no weights that the layer's descriptor has", size_t(id));
  const MatrixView other = arguments.matrix(matrix, origin, "matrix");
  if (arguments) arguments.has_room(other, part->rows, part->columns, "matrix");
  arguments.is_floating_point(other.type, "matrix");
  if (!encoding.check(arguments.status())) return;

  MatrixView own = views[size_t(part->role)];
  own.first = own.object->at(0, part->row, part->column);
  encode_copy(encoding, from_weights ? own : other, from_weights ? other : own, part->rows, part->columns);
  (from_weights ? own : other).object->was_read();
}

// Matrices like the weights'. `make` makes one.
template <class Make>
NS::Array* new_weights(const RnnTrainingPart& self, const Make& make) {
  std::vector<NS::SharedPtr<MPS::Matrix>> matrices;
  for (const Role role : trained_roles(self.layer->cell)) {
    matrices.push_back(make(size_of(self.layer->cell, role)));
    if (!matrices.back()) return nullptr;  // which is reported
  }
  return array_of(matrices);
}

NS::Array* new_weights(const RnnTrainingPart& self, MPS::DataType type) {
  return new_weights(self, [&](const MatrixSize& size) { return new_weight_matrix(self.device.get(), size, type); });
}

bool is_gradient_type(MPS::DataType type, const char* call) {
  if (is_floating_point(type) && metal_name_of(type)) return true;
  foundation::report_misuse(call,
                            fmt::format("dataType is {}; gradients are Float32, Float16 or BFloat16", name_of(type)));
  return false;
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid;
using namespace metalloid::mps;

RNNMatrixTrainingLayer* RNNMatrixTrainingLayer::alloc() {
  return new mps::Object<RNNMatrixTrainingLayer, RnnTrainingPart>("MPSRNNMatrixTrainingLayer");
}
RNNMatrixTrainingLayer* RNNMatrixTrainingLayer::init(MTL::Device* device, const RNNDescriptor* rnnDescriptor,
                                                     NS::Array** trainableWeights) {
  constexpr const char* call = "-[MPSRNNMatrixTrainingLayer initWithDevice:rnnDescriptor:trainableWeights:]";
  auto* self = part_of<RnnTrainingPart>(this);
  if (!init_kernel(this, self, device, call)) return nullptr;
  const auto layer = RnnLayer::load(device, rnnDescriptor);
  if (!layer || !trainableWeights) {
    foundation::report_misuse(call, layer ? "trainableWeights is null" : layer.error());
    return foundation::failed_init(this);
  }
  self->layer = *layer;
  std::vector<NS::SharedPtr<Matrix>> matrices;
  for (const Role role : trained_roles(self->layer->cell)) matrices.push_back(self->layer->matrices[size_t(role)]);
  *trainableWeights = array_of(matrices);
  return this;
}

MPS_READONLY(RNNMatrixTrainingLayer, RnnTrainingPart, NS::UInteger, inputFeatureChannels, layer->cell.inputs, (0))
MPS_READONLY(RNNMatrixTrainingLayer, RnnTrainingPart, NS::UInteger, outputFeatureChannels, layer->cell.outputs, (0))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, storeAllIntermediateStates, setStoreAllIntermediateStates,
             stores_all_states, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, recurrentOutputIsTemporary, setRecurrentOutputIsTemporary,
             states_are_temporary, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, trainingStateIsTemporary, setTrainingStateIsTemporary,
             training_states_are_temporary, (false))
MPS_PROPERTY(RNNMatrixTrainingLayer, RnnTrainingPart, bool, accumulateWeightGradients, setAccumulateWeightGradients,
             accumulates, (false))

void RNNMatrixTrainingLayer::createWeightMatrices(NS::Array** matricesOut) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (self && matricesOut) *matricesOut = new_weights(*self, DataTypeFloat32);
}
void RNNMatrixTrainingLayer::createWeightGradientMatrices(NS::Array** matricesOut, DataType dataType) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self || !matricesOut) return;
  *matricesOut = is_gradient_type(dataType, "-[MPSRNNMatrixTrainingLayer createWeightGradientMatrices:dataType:]")
                     ? new_weights(*self, dataType)
                     : nullptr;
}
void RNNMatrixTrainingLayer::createTemporaryWeightGradientMatrices(NS::Array** matricesOut, DataType dataType,
                                                                   MTL::CommandBuffer* commandBuffer) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self || !matricesOut) return;
  *matricesOut = nullptr;
  constexpr const char* call = "MPS::RNNMatrixTrainingLayer::createTemporaryWeightGradientMatrices";
  Encoding encoding(commandBuffer, *self, call);
  if (!encoding || !is_gradient_type(dataType, call)) return;
  *matricesOut = new_weights(*self, [&](const MatrixSize& size) {
    auto matrix =
        NS::RetainPtr<Matrix>(TemporaryMatrix::temporaryMatrix(commandBuffer, weight_descriptor(size, dataType)));
    if (matrix) encode_zeros(encoding, {matrix->data(), 0}, matrix->resourceSize());
    return matrix;
  });
}

void RNNMatrixTrainingLayer::encodeCopyWeights(MTL::CommandBuffer* commandBuffer, const NS::Array* weights,
                                               RNNMatrixId matrixId, const Matrix* matrix, bool copyFromWeightsToMatrix,
                                               MTL::Origin matrixOffset) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeCopyWeights"); encoding)
    encode_copy_weights(encoding, *self, weights, matrixId, matrix, copyFromWeightsToMatrix, matrixOffset);
}

void RNNMatrixTrainingLayer::encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                                   const NS::UInteger* sourceOffsets,
                                                   const NS::Array* destinationMatrices,
                                                   const NS::UInteger* destinationOffsets, NS::Array** trainingStates,
                                                   const RNNRecurrentMatrixState* recurrentInputState,
                                                   NS::Array** recurrentOutputStates, const NS::Array* weights) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeForwardSequence"); encoding)
    encode_forward(encoding, *self, {sourceMatrices, sourceOffsets}, {destinationMatrices, destinationOffsets},
                   trainingStates, recurrentInputState, recurrentOutputStates, weights);
}
void RNNMatrixTrainingLayer::encodeForwardSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                                   const NS::Array* destinationMatrices, NS::Array** trainingStates,
                                                   const NS::Array* weights) {
  encodeForwardSequence(commandBuffer, sourceMatrices, nullptr, destinationMatrices, nullptr, trainingStates, nullptr,
                        nullptr, weights);
}

void RNNMatrixTrainingLayer::encodeGradientSequence(
    MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources, const NS::UInteger* forwardSourceOffsets,
    const NS::Array* sourceGradients, const NS::UInteger* sourceGradientOffsets, const NS::Array* destinationGradients,
    const NS::UInteger* destinationOffsets, const NS::Array* weightGradients, const NS::Array* trainingStates,
    const RNNRecurrentMatrixState* recurrentInputState, NS::Array** recurrentOutputStates, const NS::Array* weights) {
  const auto* self = part_of<RnnTrainingPart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixTrainingLayer::encodeGradientSequence"); encoding)
    encode_gradient(encoding, *self,
                    {.sources = {forwardSources, forwardSourceOffsets},
                     .gradients = {sourceGradients, sourceGradientOffsets},
                     .destinations = {destinationGradients, destinationOffsets},
                     .weight_gradients = weightGradients,
                     .training_states = trainingStates,
                     .weights = weights,
                     .input_state = recurrentInputState,
                     .output_states = recurrentOutputStates});
}
void RNNMatrixTrainingLayer::encodeGradientSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* forwardSources,
                                                    const NS::Array* sourceGradients,
                                                    const NS::Array* destinationGradients,
                                                    const NS::Array* weightGradients, const NS::Array* trainingStates,
                                                    const NS::Array* weights) {
  encodeGradientSequence(commandBuffer, forwardSources, nullptr, sourceGradients, nullptr, destinationGradients,
                         nullptr, weightGradients, trainingStates, nullptr, nullptr, weights);
}

}  // namespace MPS
