// Inference through one layer or a stack. Long sequences are done in pieces, so that what the gates need stays small;
// a piece goes through all layers before the next one begins.
#include <algorithm>

#include "foundation/array.hpp"
#include "mps/core/properties.hpp"
#include "mps/rnn/state.hpp"

namespace metalloid::mps {

class RnnInferencePart : public KernelPart {
 public:
  std::vector<std::shared_ptr<const RnnLayer>> layers;
  bool states_are_temporary = false, stores_all_states = false;
  MPS::RNNBidirectionalCombineMode combine = MPS::RNNBidirectionalCombineModeNone;
};

namespace {

using Layers = std::vector<std::shared_ptr<const RnnLayer>>;

// The sums of all gates of a piece, at most.
constexpr size_t most_gate_bytes = size_t{16} << 20;

std::vector<const Cell*> cells_of(const Layers& layers) {
  std::vector<const Cell*> cells;
  for (const auto& layer : layers) cells.push_back(&layer->cell);
  return cells;
}

// A stack of layers on its way through a sequence, in one direction.
class Stack {
 public:
  Stack(Encoding& encoding, const Layers& layers, const Sequence& source, size_t rows, bool is_reversed)
      : encoding_(encoding), layers_(layers), source_(source), rows_(rows), is_reversed_(is_reversed) {
    size_t columns = 1;
    for (const auto& layer : layers) columns = std::max(columns, layer->cell.columns());
    piece_ = std::clamp<size_t>(most_gate_bytes / (rows * columns * sizeof(float)), 1, source.steps.size());
    for (const auto& layer : layers)
      tapes_.push_back(new_tape(layer->cell, rows, piece_, [&](size_t bytes) { return encoding.scratch(bytes); }));
  }

  bool has_memory() const {
    for (size_t i = 0; i < layers_.size(); ++i)
      if (!is_complete(layers_[i]->cell, tapes_[i])) return false;
    return true;
  }

  // With the states that the layers begin with, or none. `after_step` is called for the last step, or for all, with its
  // index in the piece that has just been encoded.
  void run(const RecurrentStatePart* before, const Destination& destination, bool wants_all,
           const std::function<void(size_t)>& after_step) {
    const std::vector<size_t> rows = source_.rows();
    const size_t steps = rows.size();
    Operand room;
    for (size_t done = 0; done < steps; done += piece_) {
      const size_t count = std::min(piece_, steps - done);
      const StepRange range{is_reversed_ ? steps - done - count : done, count};
      for (Tape& tape : tapes_) tape.steps = count;
      begin(done == 0, before, count);
      Block input = gathered(encoding_, source_, range, rows_, layers_[0]->cell.inputs, room);
      if (!input.first.buffer) return;
      for (size_t i = 0; i < layers_.size(); ++i) {
        const Weights weights = layers_[i]->weights();
        for (const auto& matrix : layers_[i]->matrices)
          if (matrix) encoding_.keep(matrix.get());
        encode_forward(encoding_,
                       {.layer = *layers_[i],
                        .weights = weights,
                        .tape = tapes_[i],
                        .rows = std::span(rows).subspan(range.first, count),
                        .destination = i + 1 == layers_.size() ? destination : Destination{},
                        .first_step = range.first,
                        .is_reversed = is_reversed_},
                       input);
        input = tapes_[i].outputs_at(layers_[i]->cell, is_reversed_ ? 0 : 1);
      }
      for (size_t i = wants_all ? 0 : count - 1; i < count; ++i)
        if (wants_all || done + count == steps) after_step(i);
      last_ = is_reversed_ ? 0 : count;
    }
  }

  // What the layers have after a step of the piece that was done last, forwards.
  void copy_states(size_t step, const RecurrentStatePart& to) const {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Cell& cell = layers_[i]->cell;
      const size_t bytes = rows_ * cell.outputs * sizeof(float);
      encode_bytes(encoding_, tapes_[i].outputs_at(cell, step + 1).first,
                   mps::body(to.layers[i].outputs.get())->at(0, 0, 0), bytes);
      if (to.layers[i].cells)
        encode_bytes(encoding_, tapes_[i].cells_at(cell, step + 1).first,
                     mps::body(to.layers[i].cells.get())->at(0, 0, 0), bytes);
    }
  }

 private:
  // What is there before a piece: what the piece before left, what the program gave, or zeros.
  void begin(bool is_first, const RecurrentStatePart* before, size_t count) {
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Cell& cell = layers_[i]->cell;
      const Tape& tape = tapes_[i];
      const size_t bytes = rows_ * cell.outputs * sizeof(float), first = is_reversed_ ? count : 0;
      const auto set = [&](Operand to, Operand last, const MPS::Matrix* given) {
        if (!is_first)
          encode_bytes(encoding_, last, to, bytes);
        else if (given)
          encode_bytes(encoding_, mps::body(given)->at(0, 0, 0), to, bytes);
        else
          encode_zeros(encoding_, to, bytes);
      };
      set(tape.outputs_at(cell, first).first, tape.outputs_at(cell, last_).first,
          before ? before->layers[i].outputs.get() : nullptr);
      if (cell.kind == CellKind::lstm)
        set(tape.cells_at(cell, first).first, tape.cells_at(cell, last_).first,
            before ? before->layers[i].cells.get() : nullptr);
    }
  }

  Encoding& encoding_;
  const Layers& layers_;
  const Sequence& source_;
  const size_t rows_;
  const bool is_reversed_;
  size_t piece_ = 1, last_ = 0;
  std::vector<Tape> tapes_;
};

MPS::RNNMatrixInferenceLayer* init(MPS::RNNMatrixInferenceLayer* kernel, MTL::Device* device,
                                   const std::vector<const MPS::RNNDescriptor*>& descriptors, const char* call) {
  auto* self = part_of<RnnInferencePart>(kernel);
  if (!init_kernel(kernel, self, device, call)) return nullptr;
  const auto refused = [&](const std::string& reason) {
    foundation::report_misuse(call, reason);
    return foundation::failed_init(kernel);
  };
  if (descriptors.empty()) return refused("rnnDescriptors has no descriptors");
  for (const MPS::RNNDescriptor* descriptor : descriptors) {
    const auto layer = RnnLayer::load(device, descriptor);
    if (!layer) return refused(layer.error());
    self->layers.push_back(*layer);
  }
  return kernel;
}

// Each layer of a stack takes what the one before it gives.
void are_stackable(Arguments& arguments, const Layers& layers) {
  for (size_t i = 1; i < layers.size(); ++i)
    arguments.require(layers[i]->cell.inputs == layers[i - 1]->cell.outputs,
                      "layer {} of the stack has {} inputFeatureChannels, and the one before it has {} outputs", i,
                      layers[i]->cell.inputs, layers[i - 1]->cell.outputs);
}

void encode(Encoding& encoding, const RnnInferencePart& self, const NS::Array* source_matrices,
            const NS::UInteger* source_offsets, const NS::Array* destination_matrices,
            const NS::UInteger* destination_offsets, const MPS::RNNRecurrentMatrixState* input_state,
            NS::Array** output_states) {
  const std::vector<const Cell*> cells = cells_of(self.layers);
  Arguments arguments(encoding);
  are_stackable(arguments, self.layers);
  const Sequence source =
      sequence_of(arguments, source_matrices, source_offsets, cells.front()->inputs, "sourceMatrices");
  has_falling_rows(arguments, source, "sourceMatrices");
  Sequence result =
      sequence_of(arguments, destination_matrices, destination_offsets, cells.back()->outputs, "destinationMatrices");
  fit_to_rows(arguments, result, source.rows(), "destinationMatrices");
  is_apart(arguments, source, result, "destinationMatrices");
  RecurrentStatePart* before = body(input_state);
  if (before && arguments) {
    fits(arguments, *before, cells, source.steps[0].rows);
    is_usable(arguments, encoding, *before, "recurrentInputState");
  }
  if (!encoding.check(arguments.status())) return;

  const size_t rows = before ? before->rows : source.steps[0].rows;
  Stack stack(encoding, self.layers, source, rows, false);
  if (!stack.has_memory()) return;
  std::vector<NS::SharedPtr<MPS::RNNRecurrentMatrixState>> states;
  bool has_states = true;
  stack.run(before, {.sequence = &result}, output_states && self.stores_all_states, [&](size_t step) {
    if (!output_states) return;
    states.push_back(new_recurrent_state(encoding, cells, rows, self.states_are_temporary));
    has_states = has_states && states.back();
    if (has_states) stack.copy_states(step, *body(states.back().get()));
  });
  if (before) before->was_read();
  source.was_read();
  if (output_states && has_states) *output_states = array_of(states);
}

void encode_bidirectional(Encoding& encoding, const RnnInferencePart& self, const NS::Array* source_matrices,
                          const NS::Array* forward_matrices, const NS::Array* backward_matrices) {
  Layers forward, backward;
  for (const auto& layer : self.layers)
    (layer->direction == MPS::RNNSequenceDirectionForward ? forward : backward).push_back(layer);
  Arguments arguments(encoding);
  arguments.require(!forward.empty() && !backward.empty(),
                    "there must be layers of both directions, and all have the same layerSequenceDirection");
  if (!encoding.check(arguments.status())) return;
  const Cell &forward_end = forward.back()->cell, &backward_end = backward.back()->cell;
  const bool concatenates = self.combine == MPS::RNNBidirectionalCombineModeConcatenate;
  const bool adds = self.combine == MPS::RNNBidirectionalCombineModeAdd;
  are_stackable(arguments, forward);
  are_stackable(arguments, backward);
  arguments.require(forward[0]->cell.inputs == backward[0]->cell.inputs,
                    "the first layers of both directions have {} and {} inputFeatureChannels", forward[0]->cell.inputs,
                    backward[0]->cell.inputs);
  arguments.require(!adds || forward_end.outputs == backward_end.outputs,
                    "results of {} and of {} channels cannot be added", forward_end.outputs, backward_end.outputs);
  const Sequence source = sequence_of(arguments, source_matrices, nullptr, forward[0]->cell.inputs, "sourceSequence");
  has_falling_rows(arguments, source, "sourceSequence");
  Sequence first =
      sequence_of(arguments, forward_matrices, nullptr, forward_end.outputs + (concatenates ? backward_end.outputs : 0),
                  "destinationForwardMatrices");
  fit_to_rows(arguments, first, source.rows(), "destinationForwardMatrices");
  is_apart(arguments, source, first, "destinationForwardMatrices");
  Sequence second;
  if (!adds && !concatenates) {
    second = sequence_of(arguments, backward_matrices, nullptr, backward_end.outputs, "destinationBackwardMatrices");
    fit_to_rows(arguments, second, source.rows(), "destinationBackwardMatrices");
    is_apart(arguments, source, second, "destinationBackwardMatrices");
  }
  if (!encoding.check(arguments.status())) return;

  const size_t rows = source.steps[0].rows;
  Stack forward_stack(encoding, forward, source, rows, false), backward_stack(encoding, backward, source, rows, true);
  if (!forward_stack.has_memory() || !backward_stack.has_memory()) return;
  const auto nothing = [](size_t) {};
  forward_stack.run(nullptr, {.sequence = &first}, false, nothing);
  backward_stack.run(nullptr,
                     {.sequence = adds || concatenates ? &first : &second,
                      .column = concatenates ? forward_end.outputs : 0,
                      .adds = adds},
                     false, nothing);
  source.was_read();
}

}  // namespace
}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

RNNMatrixInferenceLayer* RNNMatrixInferenceLayer::alloc() {
  return new metalloid::mps::Object<RNNMatrixInferenceLayer, RnnInferencePart>("MPSRNNMatrixInferenceLayer");
}
RNNMatrixInferenceLayer* RNNMatrixInferenceLayer::init(MTL::Device* device, const RNNDescriptor* rnnDescriptor) {
  return metalloid::mps::init(this, device, {rnnDescriptor},
                              "-[MPSRNNMatrixInferenceLayer initWithDevice:rnnDescriptor:]");
}
RNNMatrixInferenceLayer* RNNMatrixInferenceLayer::init(MTL::Device* device, const NS::Array* rnnDescriptors) {
  std::vector<const RNNDescriptor*> descriptors;
  for (NS::UInteger i = 0; rnnDescriptors && i < rnnDescriptors->count(); ++i)
    descriptors.push_back(metalloid::foundation::element_of<RNNDescriptor>(rnnDescriptors, i));
  return metalloid::mps::init(this, device, descriptors,
                              "-[MPSRNNMatrixInferenceLayer initWithDevice:rnnDescriptors:]");
}

NS::UInteger RNNMatrixInferenceLayer::inputFeatureChannels() const {
  const auto* self = part_of<RnnInferencePart>(this);
  return self && !self->layers.empty() ? self->layers.front()->cell.inputs : 0;
}
NS::UInteger RNNMatrixInferenceLayer::outputFeatureChannels() const {
  const auto* self = part_of<RnnInferencePart>(this);
  return self && !self->layers.empty() ? self->layers.back()->cell.outputs : 0;
}
MPS_READONLY(RNNMatrixInferenceLayer, RnnInferencePart, NS::UInteger, numberOfLayers, layers.size(), (0))
MPS_PROPERTY(RNNMatrixInferenceLayer, RnnInferencePart, bool, recurrentOutputIsTemporary, setRecurrentOutputIsTemporary,
             states_are_temporary, (false))
MPS_PROPERTY(RNNMatrixInferenceLayer, RnnInferencePart, bool, storeAllIntermediateStates, setStoreAllIntermediateStates,
             stores_all_states, (false))
MPS_PROPERTY(RNNMatrixInferenceLayer, RnnInferencePart, RNNBidirectionalCombineMode, bidirectionalCombineMode,
             setBidirectionalCombineMode, combine, (RNNBidirectionalCombineModeNone))

void RNNMatrixInferenceLayer::encodeSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                             const NS::UInteger* sourceOffsets, const NS::Array* destinationMatrices,
                                             const NS::UInteger* destinationOffsets,
                                             const RNNRecurrentMatrixState* recurrentInputState,
                                             NS::Array** recurrentOutputStates) {
  const auto* self = part_of<RnnInferencePart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixInferenceLayer::encodeSequence"); encoding)
    metalloid::mps::encode(encoding, *self, sourceMatrices, sourceOffsets, destinationMatrices, destinationOffsets,
                           recurrentInputState, recurrentOutputStates);
}
void RNNMatrixInferenceLayer::encodeSequence(MTL::CommandBuffer* commandBuffer, const NS::Array* sourceMatrices,
                                             const NS::Array* destinationMatrices,
                                             const RNNRecurrentMatrixState* recurrentInputState,
                                             NS::Array** recurrentOutputStates) {
  encodeSequence(commandBuffer, sourceMatrices, nullptr, destinationMatrices, nullptr, recurrentInputState,
                 recurrentOutputStates);
}
void RNNMatrixInferenceLayer::encodeBidirectionalSequence(MTL::CommandBuffer* commandBuffer,
                                                          const NS::Array* sourceSequence,
                                                          const NS::Array* destinationForwardMatrices,
                                                          const NS::Array* destinationBackwardMatrices) {
  const auto* self = part_of<RnnInferencePart>(this);
  if (!self) return;
  if (Encoding encoding(commandBuffer, *self, "MPS::RNNMatrixInferenceLayer::encodeBidirectionalSequence"); encoding)
    encode_bidirectional(encoding, *self, sourceSequence, destinationForwardMatrices, destinationBackwardMatrices);
}

}  // namespace MPS
