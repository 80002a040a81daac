// Simdgroup matrices in lane form, and where in memory their elements were loaded from.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <array>
#include <optional>

#include "cpu/vector/matrix_layout.hpp"

namespace metalloid::cpu::vector {

class ShapeAnalysis;

// A scalar, or one element of a vector.
struct Element {
  llvm::Value* value;
  unsigned place = 0;

  auto operator<=>(const Element&) const = default;
};

// The two elements of a matrix that a lane has.
using Matrix = std::array<Element, 2>;

// What a scalar, and an operand <2 x T>, were put together from.
Element element_of(llvm::Value* scalar);
Matrix matrix_of(llvm::Value* operand);

// Memory that all elements of a matrix were loaded from, by one function for all lanes, or by lanes each of which loads
// its own.
class MatrixSource {
 public:
  // Nothing: at least one was computed, or it is not known where lanes load from.
  static std::optional<MatrixSource> find(const Matrix& matrix, const ShapeAnalysis& shapes);

  llvm::ArrayRef<llvm::Instruction*> loads() const { return loads_; }

  // Whether elements of a row are side by side, or those of a column.
  bool has_whole_rows() const { return are_side_by_side(/*in_rows=*/true); }
  bool has_whole_columns() const { return are_side_by_side(/*in_rows=*/false); }

  // How many bytes the other's elements are behind this one's, if that is a constant, the same for all.
  std::optional<int64_t> distance_to(const MatrixSource& other, const llvm::DataLayout& layout) const;

  int64_t bytes() const { return static_cast<int64_t>(type_->getScalarSizeInBits() / 8); }
  bool has_floats() const { return type_->isFloatTy(); }

  // Loads, as float: one element; `count` in memory from this one on.
  llvm::Value* number(llvm::IRBuilder<>& builder, unsigned row, unsigned column) const;
  llvm::Value* numbers(llvm::IRBuilder<>& builder, unsigned row, unsigned column, unsigned count) const;

 private:
  bool find_function(const Element& element, const ShapeAnalysis& shapes);
  bool find_loads_of_lanes(const Matrix& matrix, const ShapeAnalysis& shapes);
  bool are_side_by_side(bool in_rows) const;
  llvm::Value* address(llvm::IRBuilder<>& builder, unsigned row, unsigned column) const;

  // Element (r, c) is factor * coefficients[r][c] + offsets[r][c] bytes behind the pointer, as lane 0 has it.
  using Table = std::array<std::array<int64_t, matrix_size>, matrix_size>;
  llvm::Value* pointer_ = nullptr;
  bool differs_in_lanes_ = false;
  llvm::Value* factor_ = nullptr;
  bool factor_is_signed_ = true;
  Table offsets_ = {}, coefficients_ = {};
  llvm::Type* type_ = nullptr;  // float, half, or i16 for bfloat
  llvm::SmallVector<llvm::Instruction*, 2> loads_;
};

}  // namespace metalloid::cpu::vector
