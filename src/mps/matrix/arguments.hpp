// The arguments of a matrix kernel's encode, looked at one after another. What is found wrong first is what is
// reported; from then on the views are empty.
#pragma once

#include <fmt/format.h>

#include <metalloid/result.hpp>
#include <optional>

#include "mps/core/matrix.hpp"

namespace metalloid::mps {

class Encoding;

// From row to row and from matrix to matrix, in numbers, as kernels are given it (kernels/rows.h).
struct RowStrides {
  uint64_t row = 0, matrix = 0;
};

// The part of a batch of matrices that a kernel works on.
struct MatrixView {
  MatrixObject* object = nullptr;
  Operand first;
  size_t rows = 0, columns = 0, matrices = 0;
  RowStrides strides;
  MPS::DataType type = MPS::DataTypeInvalid;
};

struct VectorView {
  VectorObject* object = nullptr;
  Operand first;
  size_t length = 0;
  MPS::DataType type = MPS::DataTypeInvalid;

  explicit operator bool() const { return object != nullptr; }
};

// Where the matrices of a batch lie, in bytes.
struct MatrixPlace {
  Operand first;
  size_t rows = 0, row_bytes = 0, row_stride = 0, matrix_stride = 0;

  size_t matrix_bytes() const { return (rows - 1) * row_stride + row_bytes; }
};
bool are_apart(const MatrixPlace& a, const MatrixPlace& b, size_t matrices);

class Arguments {
 public:
  explicit Arguments(const Encoding& encoding, NS::UInteger batch_start = 0, NS::UInteger batch_size = NS::UIntegerMax)
      : encoding_(encoding), batch_start_(batch_start), batch_size_(batch_size) {}

  // A matrix from an origin on, whose x is the row and whose y is the column.
  MatrixView matrix(const MPS::Matrix* matrix, MTL::Origin origin, const char* name);
  // A vector of at least so many numbers; one that need not be there may be null.
  VectorView vector(const MPS::Vector* vector, size_t length, const char* name);
  VectorView optional_vector(const MPS::Vector* vector, size_t length, const char* name);

  // Sizes and types, checked; `name` is of the argument that is looked at.
  void has_room(const MatrixView& view, size_t rows, size_t columns, const char* name);
  void is_floating_point(MPS::DataType type, const char* name);
  void is_of_type(MPS::DataType type, MPS::DataType wanted, const char* name);
  // Whether this much of the result can be written while the source is read number by number: where the source itself
  // is, or elsewhere.
  void may_be_written(const MatrixView& result, const char* name, const MatrixView& source, const char* source_name,
                      size_t rows, size_t columns);

  template <class... Values>
  void require(bool condition, fmt::format_string<Values...> rule, Values&&... values) {
    if (!condition && !error_) error_ = Error{fmt::format(rule, std::forward<Values>(values)...)};
  }

  Status status() const { return error_ ? Status(*error_) : success(); }
  explicit operator bool() const { return !error_; }

 private:
  void is_alive(const TemporaryLife& life, const char* name);

  const Encoding& encoding_;
  const NS::UInteger batch_start_, batch_size_;
  std::optional<Error> error_;
};

}  // namespace metalloid::mps
