// Sequences of matrices, as programs give them and as layers work on them: one block of [steps][rows][columns] floats.
#pragma once

#include <span>
#include <vector>

#include "mps/core/encoding.hpp"
#include "mps/matrix/arguments.hpp"
#include "mps/rnn/cell.hpp"

namespace metalloid::mps {

struct Sequence {
  std::vector<MatrixView> steps;
  MPS::DataType type = MPS::DataTypeInvalid;

  std::vector<size_t> rows() const;
  void was_read() const;
};

// The matrices from their offsets (null: 0) on, which have at least so many columns and the same type.
Sequence sequence_of(Arguments& arguments, const NS::Array* matrices, const NS::UInteger* offsets, size_t columns,
                     const char* name);
// Rows must not become more with time.
void has_falling_rows(Arguments& arguments, const Sequence& sequence, const char* name);
// There must be a matrix for each of these numbers of rows, with at least as many; more are left out.
void fit_to_rows(Arguments& arguments, Sequence& sequence, std::span<const size_t> rows, const char* name);

// Results must not overwrite what is still to be read.
void is_apart(Arguments& arguments, const Sequence& source, const Sequence& result, const char* name);

// Steps of a sequence.
struct StepRange {
  size_t first = 0, count = 0;
};

// The steps as one block with `rows` rows each: the program's own memory where it lies so, or a copy in which rows that
// are not there are zeros. The copy is made in `room`, which is scratch of this call from the first time on.
Block gathered(Encoding& encoding, const Sequence& sequence, StepRange range, size_t rows, size_t columns,
               Operand& room);

// A block that stands for the steps: the program's own memory, or scratch that scatter() copies from.
Block room_for(Encoding& encoding, const Sequence& sequence, StepRange range, size_t rows, size_t columns);
void scatter(Encoding& encoding, const Block& block, const Sequence& sequence, StepRange range, size_t rows,
             size_t columns);

// A rectangle from one matrix to another, converted.
void encode_copy(Encoding& encoding, const MatrixView& from, const MatrixView& to, size_t rows, size_t columns);

// Bytes of zeros, and bytes from one place to another.
void encode_zeros(Encoding& encoding, Operand place, size_t bytes);
void encode_bytes(Encoding& encoding, Operand from, Operand to, size_t bytes);

}  // namespace metalloid::mps
