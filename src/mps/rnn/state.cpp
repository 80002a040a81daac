#include "mps/rnn/state.hpp"

#include <fmt/format.h>

#include "mps/core/temporary_memory.hpp"
#include "mps/rnn/sequence.hpp"

namespace metalloid::mps {

NS::SharedPtr<MPS::RNNRecurrentMatrixState> new_recurrent_state(Encoding& encoding,
                                                                const std::vector<const Cell*>& cells, size_t rows,
                                                                bool is_temporary) {
  auto* state = new Object<MPS::RNNRecurrentMatrixState, RecurrentStatePart>("MPSRNNRecurrentMatrixState");
  auto owner = NS::TransferPtr<MPS::RNNRecurrentMatrixState>(state);
  state->set_device(encoding.device(), is_temporary ? encoding.command_buffer() : nullptr);
  state->rows = rows;
  size_t bytes = 0;
  for (const Cell* cell : cells) bytes += (cell->kind == CellKind::lstm ? 2 : 1) * rows * cell->outputs * sizeof(float);
  state->add_buffer(bytes);
  MTL::Buffer* buffer = state->buffer(0);
  if (!buffer) {
    encoding.fail(fmt::format("there is no memory for {} bytes of recurrent state", bytes));
    return {};
  }
  const auto pool = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  size_t offset = 0;
  const auto next = [&](size_t columns) {
    auto matrix = NS::TransferPtr(MPS::Matrix::alloc()->init(
        buffer, offset,
        MPS::MatrixDescriptor::matrixDescriptor(rows, columns, columns * sizeof(float), MPS::DataTypeFloat32)));
    offset += rows * columns * sizeof(float);
    return matrix;
  };
  for (const Cell* cell : cells) {
    RecurrentStatePart::Layer& layer = state->layers.emplace_back();
    layer.outputs = next(cell->outputs);
    if (cell->kind == CellKind::lstm) layer.cells = next(cell->outputs);
  }
  return owner;
}

void fits(Arguments& arguments, const RecurrentStatePart& state, const std::vector<const Cell*>& cells, size_t rows) {
  arguments.require(state.layers.size() == cells.size(), "recurrentInputState is of {} layers, and there are {}",
                    state.layers.size(), cells.size());
  arguments.require(state.rows >= rows, "recurrentInputState has {} rows, and the sequence has {}", state.rows, rows);
  for (size_t i = 0; i < cells.size() && arguments; ++i)
    arguments.require(state.layers[i].outputs->columns() == cells[i]->outputs &&
                          bool(state.layers[i].cells) == (cells[i]->kind == CellKind::lstm),
                      "recurrentInputState is not of a layer like layer {}", i);
}

void is_usable(Arguments& arguments, const Encoding& encoding, const StatePart& state, const char* name) {
  const Status status = check_home(state.home, state.read_count, encoding.command_buffer());
  arguments.require(bool(status), "{} {}", name, status ? "" : status.error());
}

void TrainingRecord::state_was_read() {
  if (--unread_states > 0) return;
  for (const NS::SharedPtr<MTL::Buffer>& buffer : buffers) give_back(*home, buffer.get());
}

}  // namespace metalloid::mps

namespace MPS {

using namespace metalloid::mps;

Matrix* RNNRecurrentMatrixState::getRecurrentOutputMatrix(NS::UInteger layerIndex) const {
  const auto* self = body(this);
  return self && layerIndex < self->layers.size() ? self->layers[layerIndex].outputs.get() : nullptr;
}
Matrix* RNNRecurrentMatrixState::getMemoryCellMatrix(NS::UInteger layerIndex) const {
  const auto* self = body(this);
  return self && layerIndex < self->layers.size() ? self->layers[layerIndex].cells.get() : nullptr;
}

}  // namespace MPS
