#include "cpu/vector/matrix_sources.hpp"

#include <llvm/IR/PatternMatch.h>

#include "cpu/vector/accesses.hpp"
#include "cpu/vector/bfloat_conversions.hpp"
#include "cpu/vector/matrix_rows.hpp"
#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

// Of a vector that was put together, the scalar.
Element element_at(llvm::Value* value, unsigned place) {
  while (auto* insertion = llvm::dyn_cast<llvm::InsertElementInst>(value)) {
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insertion->getOperand(2));
    if (!index) break;
    if (index->getZExtValue() == place) return element_of(insertion->getOperand(1));
    value = insertion->getOperand(0);
  }
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
    if (llvm::Constant* scalar = constant->getAggregateElement(place)) return {scalar};
  return {value, place};
}

// Without its conversion to float.
Element before_conversion(const Element& element) {
  using namespace llvm::PatternMatch;
  if (element.value->getType()->isVectorTy()) return element;
  llvm::Value* from = nullptr;
  const bool is_converted = match(element.value, m_FPExt(m_Value(from))) ||
                            match(element.value, m_BitCast(m_Shl(m_ZExt(m_Value(from)), m_SpecificInt(16))));
  return is_converted && !from->getType()->isVectorTy() ? element_of(from) : element;
}

// The type that elements are moved as; null: they are none of a matrix.
llvm::Type* moved_type(llvm::Type* type) {
  if (type->isFloatTy() || type->isHalfTy()) return type;
  return type->isBFloatTy() || type->isIntegerTy(16) ? llvm::Type::getInt16Ty(type->getContext()) : nullptr;
}

llvm::Value* to_float(llvm::IRBuilder<>& builder, llvm::Value* value) {
  if (value->getType()->getScalarType()->isIntegerTy()) return bfloat_to_float(builder, value);
  return builder.CreateFPCast(value, value->getType()->getWithNewType(builder.getFloatTy()));
}

}  // namespace

Element element_of(llvm::Value* scalar) {
  auto* extraction = llvm::dyn_cast<llvm::ExtractElementInst>(scalar);
  const auto* place = extraction ? llvm::dyn_cast<llvm::ConstantInt>(extraction->getIndexOperand()) : nullptr;
  return place ? element_at(extraction->getVectorOperand(), static_cast<unsigned>(place->getZExtValue()))
               : Element{scalar};
}

Matrix matrix_of(llvm::Value* operand) {
  return {element_at(operand, 0), element_at(operand, 1)};
}

std::optional<MatrixSource> MatrixSource::find(const Matrix& matrix, const ShapeAnalysis& shapes) {
  MatrixSource source;
  const bool is_one_call = llvm::isa<llvm::CallInst>(matrix[0].value) && matrix[0].value == matrix[1].value &&
                           matrix[0].place == 0 && matrix[1].place == 1;
  if (is_one_call ? source.find_function(matrix[0], shapes) : source.find_loads_of_lanes(matrix, shapes)) return source;
  return std::nullopt;
}

bool MatrixSource::find_function(const Element& element, const ShapeAnalysis& shapes) {
  auto* call = llvm::cast<llvm::CallInst>(element.value);
  const llvm::Function* called = call->getCalledFunction();
  if (!called || !called->getName().starts_with("metal.simdgroup_load.")) return false;
  const auto* transpose = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(2));
  if (!transpose || !shapes.is_uniform(call->getArgOperand(0)) || !shapes.is_uniform(call->getArgOperand(1)))
    return false;
  type_ = moved_type(call->getType()->getScalarType());
  if (!type_) return false;
  pointer_ = call->getArgOperand(0);
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
  if (!constant) factor_ = call->getArgOperand(1);
  for (unsigned row = 0; row < matrix_size; ++row)
    for (unsigned column = 0; column < matrix_size; ++column) {
      const int64_t down = (transpose->isOne() ? column : row) * bytes();
      offsets_[row][column] = (transpose->isOne() ? row : column) * bytes();
      if (constant)
        offsets_[row][column] += down * constant->getSExtValue();
      else
        coefficients_[row][column] = down;
    }
  loads_ = {call};
  return true;
}

bool MatrixSource::find_loads_of_lanes(const Matrix& matrix, const ShapeAnalysis& shapes) {
  std::array<llvm::LoadInst*, 2> loads;
  std::array<Distance, 2> distances;
  for (unsigned i = 0; i < 2; ++i) {
    const Element element = before_conversion(matrix[i]);
    loads[i] = llvm::dyn_cast<llvm::LoadInst>(element.value);
    if (!loads[i] || !loads[i]->isSimple()) return false;
    llvm::Type* type = moved_type(loads[i]->getType()->getScalarType());
    if (!type || (type_ && type != type_)) return false;
    type_ = type;
    distances[i] = distance_of(loads[i]->getPointerOperand(), loads[i]->getDataLayout());
    distances[i].bytes += element.place * bytes();
    if (!llvm::is_contained(loads_, loads[i])) loads_.push_back(loads[i]);
  }
  if (distances[0].base != distances[1].base) return false;
  pointer_ = loads[0]->getPointerOperand();
  const Shape shape = shapes.shape(pointer_);
  if (!shape.is_known() || !shape.guards.empty() || shape.offsets.size() != 32) return false;
  differs_in_lanes_ = !shape.is_uniform();
  factor_ = shape.factor;
  factor_is_signed_ = shape.factor_is_signed;
  for (unsigned row = 0; row < matrix_size; ++row)
    for (unsigned column = 0; column < matrix_size; ++column) {
      const unsigned lane = lane_of(row, column & ~1U);
      offsets_[row][column] = shape.step(lane) + (column % 2 == 0 ? 0 : distances[1].bytes - distances[0].bytes);
      coefficients_[row][column] = shape.factor_step(lane);
    }
  return true;
}

bool MatrixSource::are_side_by_side(bool in_rows) const {
  for (unsigned i = 0; i < matrix_size; ++i)
    for (unsigned j = 0; j < matrix_size; ++j) {
      const unsigned row = in_rows ? i : j, column = in_rows ? j : i;
      const unsigned first_row = in_rows ? i : 0, first_column = in_rows ? 0 : i;
      if (offsets_[row][column] - offsets_[first_row][first_column] != j * bytes() ||
          coefficients_[row][column] != coefficients_[first_row][first_column])
        return false;
    }
  return true;
}

std::optional<int64_t> MatrixSource::distance_to(const MatrixSource& other, const llvm::DataLayout& layout) const {
  if (type_ != other.type_ || factor_ != other.factor_ || factor_is_signed_ != other.factor_is_signed_ ||
      differs_in_lanes_ != other.differs_in_lanes_ || coefficients_ != other.coefficients_)
    return std::nullopt;
  const Distance from = distance_of(pointer_, layout), to = distance_of(other.pointer_, layout);
  if (from.base != to.base) return std::nullopt;
  const int64_t distance = to.bytes - from.bytes + other.offsets_[0][0] - offsets_[0][0];
  for (unsigned row = 0; row < matrix_size; ++row)
    for (unsigned column = 0; column < matrix_size; ++column)
      if (to.bytes - from.bytes + other.offsets_[row][column] - offsets_[row][column] != distance) return std::nullopt;
  return distance;
}

llvm::Value* MatrixSource::address(llvm::IRBuilder<>& builder, unsigned row, unsigned column) const {
  llvm::Value* first = pointer_;
  if (differs_in_lanes_) {
    const unsigned space = first->getType()->getPointerAddressSpace();
    first = builder.CreateCall(row_function(*builder.GetInsertBlock()->getModule(), lane_0_name + std::to_string(space),
                                            first->getType(), {first->getType()}),
                               {first});
  }
  if (factor_ && coefficients_[row][column] != 0) {
    llvm::Value* factor = factor_is_signed_ ? builder.CreateSExtOrTrunc(factor_, builder.getInt64Ty())
                                            : builder.CreateZExtOrTrunc(factor_, builder.getInt64Ty());
    llvm::Value* coefficient = builder.getInt64(static_cast<uint64_t>(coefficients_[row][column]));
    first = builder.CreatePtrAdd(first, builder.CreateMul(factor, coefficient));
  }
  return builder.CreatePtrAdd(first, builder.getInt64(static_cast<uint64_t>(offsets_[row][column])));
}

llvm::Value* MatrixSource::number(llvm::IRBuilder<>& builder, unsigned row, unsigned column) const {
  return to_float(builder, builder.CreateAlignedLoad(type_, address(builder, row, column),
                                                     llvm::Align(static_cast<uint64_t>(bytes()))));
}

llvm::Value* MatrixSource::numbers(llvm::IRBuilder<>& builder, unsigned row, unsigned column, unsigned count) const {
  return to_float(builder,
                  builder.CreateAlignedLoad(llvm::FixedVectorType::get(type_, count), address(builder, row, column),
                                            llvm::Align(static_cast<uint64_t>(bytes()))));
}

}  // namespace metalloid::cpu::vector
