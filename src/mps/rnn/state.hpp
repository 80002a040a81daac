// The states of recurrent layers: what passes from one sequence to the next, and what the forward pass keeps for its
// gradient.
#pragma once

#include <memory>
#include <vector>

#include "mps/core/state.hpp"
#include "mps/rnn/forward.hpp"

namespace metalloid::mps {

class RecurrentStatePart : public StatePart {
 public:
  struct Layer {
    NS::SharedPtr<MPS::Matrix> outputs, cells;
  };
  size_t rows = 0;
  std::vector<Layer> layers;
};

inline RecurrentStatePart* body(const MPS::RNNRecurrentMatrixState* state) {
  return part_of<RecurrentStatePart>(const_cast<MPS::RNNRecurrentMatrixState*>(state));
}

// A state of layers like these, temporary or not; null, and the command buffer fails, where there is no memory.
NS::SharedPtr<MPS::RNNRecurrentMatrixState> new_recurrent_state(Encoding& encoding,
                                                                const std::vector<const Cell*>& cells, size_t rows,
                                                                bool is_temporary);

// Whether a state is of layers like these and has at least so many rows.
void fits(Arguments& arguments, const RecurrentStatePart& state, const std::vector<const Cell*>& cells, size_t rows);

// Whether a state, if it is temporary, may be read in this command buffer.
void is_usable(Arguments& arguments, const Encoding& encoding, const StatePart& state, const char* name);

// A run over a sequence that its gradients will need. Temporary memory is given back when all of its states have been
// read, or else when the command buffer is done.
struct TrainingRecord {
  Cell cell;
  Tape tape;
  std::vector<size_t> rows;  // of each step
  std::vector<NS::SharedPtr<MTL::Buffer>> buffers;
  TemporaryHomePointer home;
  size_t unread_states = 0;

  void state_was_read();
};

class TrainingStatePart : public StatePart {
 public:
  std::shared_ptr<TrainingRecord> record;
  size_t step = 0;
};

inline TrainingStatePart* body(const MPS::RNNMatrixTrainingState* state) {
  return part_of<TrainingStatePart>(const_cast<MPS::RNNMatrixTrainingState*>(state));
}

// An autoreleased array of the objects.
template <class Interface>
NS::Array* array_of(const std::vector<NS::SharedPtr<Interface>>& objects) {
  std::vector<const NS::Object*> pointers;
  for (const NS::SharedPtr<Interface>& object : objects) pointers.push_back(object.get());
  return NS::Array::array(pointers.data(), pointers.size());
}

}  // namespace metalloid::mps
