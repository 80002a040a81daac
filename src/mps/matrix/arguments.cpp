#include "mps/matrix/arguments.hpp"

#include <algorithm>

#include "mps/core/data_type.hpp"
#include "mps/core/encoding.hpp"

namespace metalloid::mps {

MatrixView Arguments::matrix(const MPS::Matrix* matrix, MTL::Origin origin, const char* name) {
  MatrixObject* object = body(matrix);
  require(object != nullptr, "{} is null", name);
  if (error_) return {};
  is_alive(object->life, name);
  const MatrixLayout& layout = object->layout;
  require(origin.x < layout.rows && origin.y < layout.columns && origin.z == 0,
          "the origin of {}, [{}, {}, {}], is outside of its {} rows and {} columns", name, origin.x, origin.y,
          origin.z, layout.rows, layout.columns);
  require(batch_start_ < layout.matrices, "batchStart ({}) is beyond the matrices of {}, of which there are {}",
          batch_start_, name, layout.matrices);
  require(bits_of(layout.type) >= 8, "{} has the type {}, which this kernel does not take", name, name_of(layout.type));
  if (error_) return {};
  const size_t number = bits_of(layout.type) / 8;
  return {.object = object,
          .first = object->at(batch_start_, origin.x, origin.y),
          .rows = layout.rows - origin.x,
          .columns = layout.columns - origin.y,
          .matrices = std::min<size_t>(batch_size_, layout.matrices - batch_start_),
          .strides = {layout.row_bytes / number, layout.matrix_bytes / number},
          .type = layout.type};
}

VectorView Arguments::vector(const MPS::Vector* vector, size_t length, const char* name) {
  require(vector != nullptr, "{} is null", name);
  return optional_vector(vector, length, name);
}

VectorView Arguments::optional_vector(const MPS::Vector* vector, size_t length, const char* name) {
  VectorObject* object = body(vector);
  if (!object || error_) return {};
  is_alive(object->life, name);
  require(object->length >= length, "{} has {} numbers, and {} are needed", name, object->length, length);
  return {object, object->at(0, 0), object->length, object->type};
}

void Arguments::has_room(const MatrixView& view, size_t rows, size_t columns, const char* name) {
  require(view.rows >= rows && view.columns >= columns,
          "{} has {} rows and {} columns from its origin on, and {} rows and {} columns are needed", name, view.rows,
          view.columns, rows, columns);
}

void Arguments::is_floating_point(MPS::DataType type, const char* name) {
  require(mps::is_floating_point(type) && metal_name_of(type),
          "{} has the type {}; this kernel takes Float32, Float16 and BFloat16", name, name_of(type));
}

void Arguments::is_of_type(MPS::DataType type, MPS::DataType wanted, const char* name) {
  require(type == wanted, "{} has the type {}, and the other arguments have {}", name, name_of(type), name_of(wanted));
}

bool are_apart(const MatrixPlace& a, const MatrixPlace& b, size_t matrices) {
  if (are_apart(a.first, (matrices - 1) * a.matrix_stride + a.matrix_bytes(), b.first,
                (matrices - 1) * b.matrix_stride + b.matrix_bytes()))
    return true;
  if (matrices > 1 && a.matrix_stride == b.matrix_stride &&
      take_turns(a.first, a.matrix_bytes(), b.first, b.matrix_bytes(), a.matrix_stride))
    return true;
  const size_t row = a.row_stride;
  return row && row == b.row_stride && (matrices == 1 || (a.matrix_stride % row == 0 && b.matrix_stride % row == 0)) &&
         take_turns(a.first, a.row_bytes, b.first, b.row_bytes, row);
}

void Arguments::may_be_written(const MatrixView& result, const char* name, const MatrixView& source,
                               const char* source_name, size_t rows, size_t columns) {
  if (error_ || rows == 0 || columns == 0) return;
  const size_t matrices = std::min(result.matrices, source.matrices);
  const auto place = [&](const MatrixView& view) {
    return MatrixPlace{view.first, rows, bytes_of(view.type, columns), bytes_of(view.type, view.strides.row),
                       bytes_of(view.type, view.strides.matrix)};
  };
  const bool is_same = result.first == source.first && (rows == 1 || result.strides.row == source.strides.row) &&
                       (matrices == 1 || result.strides.matrix == source.strides.matrix);
  require(is_same || are_apart(place(result), place(source), matrices), "{} overlaps {}, but is not at its place", name,
          source_name);
}

void Arguments::is_alive(const TemporaryLife& life, const char* name) {
  const Status status = check_home(life.home, life.read_count, encoding_.command_buffer());
  require(bool(status), "{} {}", name, status ? "" : status.error());
}

}  // namespace metalloid::mps
