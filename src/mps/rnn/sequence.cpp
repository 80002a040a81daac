#include "mps/rnn/sequence.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "foundation/array.hpp"
#include "mps/core/data_type.hpp"
#include "mps/matrix/rows.hpp"

namespace metalloid::mps {
namespace {

// As kernels/rnn_rows.metal has it.
struct Copy {
  uint32_t columns, rows;
  RowStrides from, to;
};

// Whether the steps lie as one block of floats without copying.
bool is_block(const Sequence& sequence, StepRange range, size_t rows) {
  if (sequence.type != MPS::DataTypeFloat32) return false;
  const MatrixView& first = sequence.steps[range.first];
  const size_t step_bytes = rows * first.strides.row * sizeof(float);
  for (size_t i = 0; i < range.count; ++i) {
    const MatrixView& step = sequence.steps[range.first + i];
    if (step.rows != rows || step.strides.row != first.strides.row || step.first != first.first + i * step_bytes)
      return false;
  }
  return true;
}

// From step to step, in numbers, where it is the same for all of them and they have the same rows; else 0.
size_t distance(const Sequence& sequence, StepRange range) {
  if (range.count < 2) return 0;
  const MatrixView& first = sequence.steps[range.first];
  const size_t start = first.first.offset, next = sequence.steps[range.first + 1].first.offset;
  if (next <= start) return 0;
  for (size_t i = 1; i < range.count; ++i) {
    const MatrixView& step = sequence.steps[range.first + i];
    if (step.rows != first.rows || step.strides.row != first.strides.row ||
        step.first != first.first + i * (next - start))
      return 0;
  }
  return (next - start) / (bits_of(sequence.type) / 8);
}

void dispatch_copy(Encoding& encoding, MPS::DataType from_type, MPS::DataType to_type, Operand from, Operand to,
                   const Copy& copy, size_t rows, size_t matrices) {
  encoding.dispatch({fmt::format("rnn_copy_{}_{}", metal_name_of(from_type), metal_name_of(to_type))},
                    MTL::Size(copy.columns, rows, matrices), threads_along_row(copy.columns), from, to, copy);
}

// Calls `visit` for steps that can be copied with one dispatch: their range, and their distance.
template <class Visit>
void for_each_run(const Sequence& sequence, StepRange range, const Visit& visit) {
  if (const size_t apart = distance(sequence, range)) return visit(range, apart);
  for (size_t i = 0; i < range.count; ++i) visit(StepRange{range.first + i, 1}, 0);
}

}  // namespace

std::vector<size_t> Sequence::rows() const {
  std::vector<size_t> rows;
  for (const MatrixView& step : steps) rows.push_back(step.rows);
  return rows;
}

void Sequence::was_read() const {
  for (const MatrixView& step : steps) step.object->was_read();
}

Sequence sequence_of(Arguments& arguments, const NS::Array* matrices, const NS::UInteger* offsets, size_t columns,
                     const char* name) {
  Sequence sequence;
  arguments.require(matrices && matrices->count() > 0, "{} has no matrices", name);
  if (!arguments) return {};
  for (NS::UInteger i = 0; i < matrices->count() && arguments; ++i) {
    const auto* matrix = foundation::element_of<MPS::Matrix>(matrices, i);
    const std::string own_name = fmt::format("{}[{}]", name, i);
    MTL::Origin origin(0, 0, 0);
    if (matrix && offsets && offsets[i]) {
      const size_t number = bits_of(matrix->dataType()) / 8;
      arguments.require(number && offsets[i] % number == 0, "the offset of {}, {}, is not a multiple of {} bytes",
                        own_name, offsets[i], number);
      origin = MTL::Origin(offsets[i] / matrix->rowBytes(),
                           offsets[i] % matrix->rowBytes() / std::max<size_t>(number, 1), 0);
    }
    const MatrixView view = arguments.matrix(matrix, origin, own_name.c_str());
    arguments.is_floating_point(view.type, own_name.c_str());
    if (i > 0) arguments.is_of_type(view.type, sequence.type, own_name.c_str());
    arguments.has_room(view, 1, columns, own_name.c_str());
    sequence.type = view.type;
    sequence.steps.push_back(view);
  }
  return sequence;
}

void has_falling_rows(Arguments& arguments, const Sequence& sequence, const char* name) {
  for (size_t i = 1; i < sequence.steps.size() && arguments; ++i)
    arguments.require(sequence.steps[i].rows <= sequence.steps[i - 1].rows,
                      "{}[{}] has {} rows, and the one before it has {}; rows must not become more", name, i,
                      sequence.steps[i].rows, sequence.steps[i - 1].rows);
}

void fit_to_rows(Arguments& arguments, Sequence& sequence, std::span<const size_t> rows, const char* name) {
  arguments.require(sequence.steps.size() == rows.size(), "{} has {} matrices, and there are {} steps", name,
                    sequence.steps.size(), rows.size());
  for (size_t i = 0; i < rows.size() && arguments; ++i) {
    arguments.require(sequence.steps[i].rows >= rows[i], "{}[{}] has {} rows, and {} are needed", name, i,
                      sequence.steps[i].rows, rows[i]);
    sequence.steps[i].rows = rows[i];
  }
}

void is_apart(Arguments& arguments, const Sequence& source, const Sequence& result, const char* name) {
  for (size_t i = 0; i < std::min(source.steps.size(), result.steps.size()) && arguments; ++i)
    arguments.require(source.steps[i].first != result.steps[i].first, "{}[{}] is also a source", name, i);
}

Block gathered(Encoding& encoding, const Sequence& sequence, StepRange range, size_t rows, size_t columns,
               Operand& room) {
  if (is_block(sequence, range, rows)) {
    const MatrixView& first = sequence.steps[range.first];
    return {first.first, first.strides.row};
  }
  if (!room.buffer) room = encoding.scratch(range.count * rows * columns * sizeof(float));
  const Block block{room, columns};
  if (!room.buffer) return block;
  for_each_run(sequence, range, [&](StepRange run, size_t apart) {
    const MatrixView& step = sequence.steps[run.first];
    dispatch_copy(encoding, sequence.type, MPS::DataTypeFloat32, step.first,
                  block.row((run.first - range.first) * rows).first,
                  {uint32_t(columns), uint32_t(step.rows), {step.strides.row, apart}, {columns, rows * columns}}, rows,
                  run.count);
  });
  return block;
}

Block room_for(Encoding& encoding, const Sequence& sequence, StepRange range, size_t rows, size_t columns) {
  if (is_block(sequence, range, rows)) {
    const MatrixView& first = sequence.steps[range.first];
    return {first.first, first.strides.row};
  }
  return {encoding.scratch(range.count * rows * columns * sizeof(float)), columns};
}

void scatter(Encoding& encoding, const Block& block, const Sequence& sequence, StepRange range, size_t rows,
             size_t columns) {
  if (block.first == sequence.steps[range.first].first) return;
  for_each_run(sequence, range, [&](StepRange run, size_t apart) {
    const MatrixView& step = sequence.steps[run.first];
    dispatch_copy(
        encoding, MPS::DataTypeFloat32, sequence.type, block.row((run.first - range.first) * rows).first, step.first,
        {uint32_t(columns), uint32_t(step.rows), {block.stride, rows * block.stride}, {step.strides.row, apart}},
        step.rows, run.count);
  });
}

void encode_copy(Encoding& encoding, const MatrixView& from, const MatrixView& to, size_t rows, size_t columns) {
  dispatch_copy(encoding, from.type, to.type, from.first, to.first,
                {uint32_t(columns), uint32_t(rows), from.strides, to.strides}, rows, 1);
}

void encode_zeros(Encoding& encoding, Operand place, size_t bytes) {
  MTL::BlitCommandEncoder* fill = encoding.command_buffer()->blitCommandEncoder();
  fill->fillBuffer(place.buffer, NS::Range::Make(place.offset, bytes), 0);
  fill->endEncoding();
}

void encode_bytes(Encoding& encoding, Operand from, Operand to, size_t bytes) {
  MTL::BlitCommandEncoder* copy = encoding.command_buffer()->blitCommandEncoder();
  copy->copyFromBuffer(from.buffer, from.offset, to.buffer, to.offset, bytes);
  copy->endEncoding();
}

}  // namespace metalloid::mps
