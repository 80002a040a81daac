// Simdgroup matrices: 8×8, two elements of a row in each of 32 lanes (docs/builtins.md).
//
// Products stay in that layout: for each k, column k of A, spread along its rows, times row k of B, spread along its
// columns, is added to both elements of all lanes. The spread columns and rows are constant shuffles that depend on one
// matrix only: a kernel that multiplies a row of tiles by a column of tiles makes each once. In both halves of 16 lanes
// a spread row is the same, and a spread column comes from the same half. Products that are made together go from one k
// to the next together: their sums stay in registers, and what two of them need is fetched once for both.
//
// Loads and stores move rows of eight elements where all lanes agree on where the matrix is; otherwise each active lane
// moves its own two.
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <array>
#include <vector>

#include "cpu/vector/bfloat_conversions.hpp"
#include "cpu/vector/group_calls.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/matrix_layout.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

// The last words of a name are the types of what it works on: "f16", "bf16", "f32".
Value* to_float(const Emission& emission, Value* value, llvm::StringRef type) {
  if (type == "bf16") return bfloat_to_float(emission.builder, value);
  return emission.builder.CreateFPCast(value, emission.vector_of(emission.builder.getFloatTy()));
}

Value* from_float(const Emission& emission, Value* value, llvm::StringRef type, llvm::Type* result) {
  return type == "bf16" ? float_to_bfloat(emission.builder, value, result)
                        : emission.builder.CreateFPCast(value, result);
}

// A product on its way: sum + a b.
struct Product {
  std::array<Value*, 2> a, b, sum;
  llvm::StringRef type_of_sum;
  llvm::Type* result;

  Product(const Emission& emission, const MatrixProduct& from) {
    llvm::SmallVector<llvm::StringRef, 5> words;
    from.function->getName().split(words, '.');
    type_of_sum = words[2];
    result = from.operands[2].lanes[0]->getType();
    for (unsigned i = 0; i < 2; ++i) {
      a[i] = to_float(emission, from.operands[0].lanes[i], words[3]);
      b[i] = to_float(emission, from.operands[1].lanes[i], words[4]);
      sum[i] = to_float(emission, from.operands[2].lanes[i], type_of_sum);
      Value* const zero = llvm::Constant::getNullValue(a[i]->getType());
      a[i] = of_active_lanes(emission, a[i], zero);
      b[i] = of_active_lanes(emission, b[i], zero);
    }
  }

  void add(const Emission& emission, unsigned k) {
    Value* const column = rearranged(emission, a[k % 2], [&](unsigned lane) { return lane_of(row_of(lane), k & 6); });
    for (unsigned i = 0; i < 2; ++i) {
      Value* const row = rearranged(emission, b[i], [&](unsigned lane) { return lane_of(k, column_of(lane)); });
      sum[i] = emission.builder.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sum[i]->getType()}, {column, row, sum[i]});
    }
  }

  Components end(const Emission& emission) const {
    return {from_float(emission, sum[0], type_of_sum, result), from_float(emission, sum[1], type_of_sum, result)};
  }
};

// Where a matrix is in memory.
struct Place {
  const Operand& pointer;
  const Operand& elements_per_row;
  const Operand& transpose;

  bool is_plain(const Emission& emission) const {
    return !emission.active && pointer.uniform && elements_per_row.uniform &&
           llvm::isa_and_nonnull<llvm::ConstantInt>(transpose.uniform);
  }
  bool is_transposed() const { return llvm::cast<llvm::ConstantInt>(transpose.uniform)->isOne(); }
};

// A quarter of a matrix: element i of lanes 16h … 16h + 15. Two quarters are four rows in memory: both elements of a
// half of the lanes or, transposed, one element of both halves.
struct Quarter {
  unsigned half, element;
};

struct FourRows {
  std::array<Quarter, 2> quarters;
  std::array<unsigned, 4> rows;

  FourRows(bool transposed, unsigned which) {
    for (unsigned i = 0; i < 2; ++i) quarters[i] = transposed ? Quarter{i, which} : Quarter{which, i};
    for (unsigned i = 0; i < 4; ++i) rows[i] = transposed ? 2 * i + which : 4 * which + i;
  }

  // Where an element of a quarter is in the four rows, one after the other.
  static unsigned place(bool transposed, Quarter quarter, unsigned lane) {
    const unsigned row = row_of(16 * quarter.half + lane), column = column_of(lane) + quarter.element;
    return transposed ? column / 2 * 8 + row : row % 4 * 8 + column;
  }
};

class RowsInMemory {
 public:
  RowsInMemory(const Emission& emission, const Place& place, llvm::Type* element)
      : builder_(emission.builder), place_(place), element_(element) {}

  Components load() const {
    const bool transposed = place_.is_transposed();
    std::array<std::array<Value*, 2>, 2> quarters;  // [element][half]
    for (unsigned which = 0; which < 2; ++which) {
      const FourRows four(transposed, which);
      std::array<Value*, 4> rows;
      for (unsigned i = 0; i < 4; ++i)
        rows[i] =
            builder_.CreateAlignedLoad(llvm::FixedVectorType::get(element_, 8), address(four.rows[i]), alignment());
      Value* const low = llvm::concatenateVectors(builder_, {rows[0], rows[1]});
      Value* const high = llvm::concatenateVectors(builder_, {rows[2], rows[3]});
      for (const Quarter& quarter : four.quarters) {
        llvm::SmallVector<int, 16> sources;
        for (unsigned lane = 0; lane < 16; ++lane)
          sources.push_back(static_cast<int>(FourRows::place(transposed, quarter, lane)));
        quarters[quarter.element][quarter.half] = builder_.CreateShuffleVector(low, high, sources);
      }
    }
    return {llvm::concatenateVectors(builder_, quarters[0]), llvm::concatenateVectors(builder_, quarters[1])};
  }

  void store(llvm::ArrayRef<Value*> elements) const {
    const bool transposed = place_.is_transposed();
    for (unsigned which = 0; which < 2; ++which) {
      const FourRows four(transposed, which);
      std::array<Value*, 2> quarters;
      std::array<int, 32> sources;
      for (unsigned i = 0; i < 2; ++i) {
        const Quarter quarter = four.quarters[i];
        quarters[i] = part(elements[quarter.element], 16 * quarter.half, 16);
        for (unsigned lane = 0; lane < 16; ++lane)
          sources[FourRows::place(transposed, quarter, lane)] = static_cast<int>(16 * i + lane);
      }
      for (unsigned pair = 0; pair < 2; ++pair) {
        Value* const rows =
            builder_.CreateShuffleVector(quarters[0], quarters[1], llvm::ArrayRef<int>(sources).slice(16 * pair, 16));
        for (unsigned i = 0; i < 2; ++i)
          builder_.CreateAlignedStore(part(rows, 8 * i, 8), address(four.rows[2 * pair + i]), alignment());
      }
    }
  }

 private:
  Value* address(unsigned row) const {
    Value* const first = builder_.CreateMul(place_.elements_per_row.uniform, builder_.getInt64(row));
    return builder_.CreateGEP(element_, place_.pointer.uniform, first);
  }
  llvm::Align alignment() const { return llvm::Align(element_->getScalarSizeInBits() / 8); }

  Value* part(Value* value, unsigned first, unsigned size) const {
    return builder_.CreateExtractVector(llvm::FixedVectorType::get(element_, size), value, uint64_t{first});
  }

  llvm::IRBuilder<>& builder_;
  const Place& place_;
  llvm::Type* element_;
};

// One element of each active lane.
class ElementsInMemory {
 public:
  ElementsInMemory(const Emission& emission, const Place& place, llvm::Type* element)
      : emission_(emission),
        builder_(emission.builder),
        user_(*builder_.GetInsertBlock()->getParent()),
        place_(place),
        element_(element),
        has_instructions_(element->isFloatTy() && has_feature(user_, "avx512f")) {}

  Components load() const {
    llvm::Type* const type = emission_.vector_of(element_);
    Components elements;
    for (unsigned i = 0; i < 2; ++i)
      elements.push_back(has_instructions_
                             ? builder_.CreateMaskedGather(type, addresses(i), alignment(), emission_.mask(),
                                                           llvm::Constant::getNullValue(type))
                             : builder_.CreateCall(gather_function(user_, element_, emission_.width, alignment()),
                                                   {addresses(i), emission_.mask_bits()}));
    return elements;
  }

  void store(llvm::ArrayRef<Value*> elements) const {
    for (unsigned i = 0; i < 2; ++i) {
      if (has_instructions_)
        builder_.CreateMaskedScatter(elements[i], addresses(i), alignment(), emission_.mask());
      else
        builder_.CreateCall(scatter_function(user_, element_, emission_.width, alignment()),
                            {elements[i], addresses(i), emission_.mask_bits()});
    }
  }

 private:
  // Of element i of all lanes.
  Value* addresses(unsigned i) const {
    llvm::SmallVector<uint64_t, 32> rows, columns;
    for (unsigned lane = 0; lane < emission_.width; ++lane) {
      rows.push_back(row_of(lane));
      columns.push_back(column_of(lane) + i);
    }
    Value* const row = llvm::ConstantDataVector::get(builder_.getContext(), rows);
    Value* const column = llvm::ConstantDataVector::get(builder_.getContext(), columns);
    Value* const transpose = place_.transpose.lanes[0];
    Value* const start =
        builder_.CreateMul(builder_.CreateSelect(transpose, column, row), place_.elements_per_row.lanes[0]);
    Value* const offset = builder_.CreateAdd(start, builder_.CreateSelect(transpose, row, column));
    return builder_.CreateAddrSpaceCast(builder_.CreateGEP(element_, place_.pointer.lanes[0], offset),
                                        emission_.vector_of(builder_.getPtrTy()));
  }
  llvm::Align alignment() const { return llvm::Align(element_->getScalarSizeInBits() / 8); }

  const Emission& emission_;
  llvm::IRBuilder<>& builder_;
  llvm::Function& user_;
  const Place& place_;
  llvm::Type* element_;
  bool has_instructions_;
};

// Elements are moved as numbers that every processor can move.
llvm::Type* moved_type(llvm::IRBuilder<>& builder, llvm::Type* element) {
  return element->isFloatTy() ? element : builder.getIntNTy(element->getScalarSizeInBits());
}

Components load(const Emission& emission, const Place& place, llvm::Type* element) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* const moved = moved_type(builder, element);
  const Components elements = place.is_plain(emission) ? RowsInMemory(emission, place, moved).load()
                                                       : ElementsInMemory(emission, place, moved).load();
  return {builder.CreateBitCast(elements[0], emission.vector_of(element)),
          builder.CreateBitCast(elements[1], emission.vector_of(element))};
}

void store(const Emission& emission, const Place& place, llvm::ArrayRef<Value*> values) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* const moved = moved_type(builder, values[0]->getType()->getScalarType());
  Components elements;
  for (Value* value : values) elements.push_back(builder.CreateBitCast(value, emission.vector_of(moved)));
  if (place.is_plain(emission)) return RowsInMemory(emission, place, moved).store(elements);
  ElementsInMemory(emission, place, moved).store(elements);
}

}  // namespace

std::vector<Components> emit_matrix_products(Emission emission, llvm::ArrayRef<MatrixProduct> products) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(emission.builder);
  emission.builder.clearFastMathFlags();
  std::vector<Product> under_way;
  for (const MatrixProduct& product : products) under_way.emplace_back(emission, product);
  for (unsigned k = 0; k < 8; ++k)
    for (Product& product : under_way) product.add(emission, k);
  std::vector<Components> results;
  for (const Product& product : under_way) results.push_back(product.end(emission));
  return results;
}

Value* emit_row_of_matrices(const Emission& emission, unsigned row, llvm::ArrayRef<Components> matrices) {
  llvm::SmallVector<Value*, 4> parts;
  for (const Components& matrix : matrices) {
    llvm::SmallVector<int, matrix_size> places;
    for (unsigned column = 0; column < matrix_size; ++column)
      places.push_back(static_cast<int>(lane_of(row, column & ~1U) + column % 2 * emission.width));
    parts.push_back(emission.builder.CreateShuffleVector(matrix[0], matrix[1], places));
  }
  return llvm::concatenateVectors(emission.builder, parts);
}

Components emit_matrix_of_rows(const Emission& emission, unsigned number, llvm::ArrayRef<Value*> rows) {
  llvm::IRBuilder<>& builder = emission.builder;
  // Its part of two rows.
  const auto two_rows = [&](unsigned first) {
    const auto size = static_cast<int>(llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements());
    llvm::SmallVector<int, 2 * matrix_size> places;
    for (unsigned i = 0; i < 2 * matrix_size; ++i)
      places.push_back(static_cast<int>(number * matrix_size + i % matrix_size) + (i < matrix_size ? 0 : size));
    return builder.CreateShuffleVector(rows[first], rows[first + 1], places);
  };
  Components elements;
  for (unsigned element = 0; element < 2; ++element) {
    std::array<Value*, 2> halves;
    for (unsigned half = 0; half < 2; ++half) {
      llvm::SmallVector<int, 16> places;
      for (unsigned lane = 16 * half; lane < 16 * half + 16; ++lane)
        places.push_back(static_cast<int>(row_of(lane) % 4 * matrix_size + column_of(lane) + element));
      halves[half] = builder.CreateShuffleVector(two_rows(4 * half), two_rows(4 * half + 2), places);
    }
    elements.push_back(llvm::concatenateVectors(builder, halves));
  }
  return elements;
}

Components emit_matrix_function(const Emission& emission, const llvm::Function& function,
                                llvm::ArrayRef<Operand> operands) {
  const llvm::StringRef name = function.getName();
  if (is_matrix_product(name))
    return emit_matrix_products(emission, {{&function, llvm::SmallVector<Operand, 3>(operands)}})[0];
  if (name.starts_with("metal.simdgroup_load."))
    return load(emission, {operands[0], operands[1], operands[2]}, function.getReturnType()->getScalarType());
  store(emission, {operands[1], operands[2], operands[3]}, operands[0].lanes);
  return {};
}

}  // namespace metalloid::cpu::vector
