#include "cpu/vector/matrix_rows.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/ValueHandle.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>
#include <set>

#include "cpu/vector/matrix_bands.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

using Rows = std::array<llvm::Value*, matrix_size>;

class SumsInRows {
 public:
  SumsInRows(llvm::Function& function, const Bands& bands)
      : function_(function), layout_(function.getDataLayout()), bands_(bands), builder_(function.getContext()) {}

  void make(const std::vector<Step>& steps, const std::vector<Band*>& bands) {
    for (const Band* band : bands)
      if (band->is_phi()) make_phis(*band);
    for (const Step& step : steps) make_step(step);
    for (const Band* band : bands)
      if (band->is_phi()) complete_phis(*band);
    for (const Band* band : bands) give_to_lanes(*band);
    remove_products(steps, bands);
  }

 private:
  void make_phis(const Band& band);
  void make_step(const Step& step);
  void complete_phis(const Band& band);
  void give_to_lanes(const Band& band);
  void remove_products(const std::vector<Step>& steps, const std::vector<Band*>& bands);

  Rows rows_of(llvm::ArrayRef<Matrix> matrices);
  const Rows& right_rows(const std::vector<const MatrixSource*>& right);
  llvm::Value* right_row(llvm::ArrayRef<const MatrixSource*> right, unsigned row);
  bool are_one_in_memory(llvm::ArrayRef<const MatrixSource*> right) const;
  Rows transposed(const Rows& rows);
  llvm::Value* left_number(const MatrixSource& left, unsigned row, unsigned k);
  llvm::FixedVectorType* row_type(size_t matrices) {
    return llvm::FixedVectorType::get(builder_.getFloatTy(), static_cast<unsigned>(matrices) * matrix_size);
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  const Bands& bands_;
  llvm::IRBuilder<> builder_;
  std::map<const Band*, Rows> rows_;

  // Of the block where products are made.
  const llvm::BasicBlock* block_ = nullptr;
  std::map<std::vector<const MatrixSource*>, Rows> right_;
  std::map<std::pair<const MatrixSource*, unsigned>, llvm::Value*> left_;
};

void SumsInRows::make_phis(const Band& band) {
  builder_.SetInsertPoint(band.block, band.block->begin());
  for (llvm::Value*& row : rows_[&band])
    row = builder_.CreatePHI(row_type(band.sums.size()), llvm::pred_size(band.block));
}

void SumsInRows::make_step(const Step& step) {
  if (step.last->getParent() != block_) {
    right_.clear();
    left_.clear();
    block_ = step.last->getParent();
  }
  builder_.SetInsertPoint(step.last);
  Rows sums = rows_of(step.addends);
  const Rows& right = right_rows(step.right);
  const auto columns = static_cast<unsigned>(step.products.size()) * matrix_size;
  const unsigned rows_together = std::min(matrix_size, sums_in_registers(function_) / columns);
  for (unsigned first = 0; first < matrix_size; first += rows_together)
    for (unsigned k = 0; k < matrix_size; ++k)
      for (unsigned row = first; row < first + rows_together; ++row) {
        llvm::Value* left = builder_.CreateVectorSplat(columns, left_number(*step.left, row, k));
        sums[row] =
            builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {sums[row]->getType()}, {left, right[k], sums[row]});
      }
  rows_[step.result] = sums;
}

void SumsInRows::complete_phis(const Band& band) {
  for (llvm::BasicBlock* from : llvm::predecessors(band.block)) {
    std::vector<Matrix> matrices;
    for (const Matrix& sum : band.sums) matrices.push_back(incoming(sum, from));
    builder_.SetInsertPoint(from->getTerminator());
    const Rows rows = rows_of(matrices);
    for (unsigned i = 0; i < matrix_size; ++i) llvm::cast<llvm::PHINode>(rows_[&band][i])->addIncoming(rows[i], from);
  }
}

// Where they are needed, which may be behind a loop.
void SumsInRows::give_to_lanes(const Band& band) {
  const Rows& rows = rows_[&band];
  for (unsigned number = 0; number < band.sums.size(); ++number) {
    std::map<const llvm::BasicBlock*, llvm::Value*> made;
    for (const LaneUse& use : bands_.uses_in_lanes(band.sums[number])) {
      llvm::Value*& matrix = made[use.block()];
      if (!matrix) {
        if (use.block() == band.block && !band.is_phi())
          builder_.SetInsertPoint(band.place->getNextNode());
        else
          builder_.SetInsertPoint(use.block(), use.block()->getFirstInsertionPt());
        llvm::Type* pair = llvm::FixedVectorType::get(builder_.getFloatTy(), 2);
        llvm::SmallVector<llvm::Value*, 9> arguments{builder_.getInt32(number)};
        arguments.append(rows.begin(), rows.end());
        llvm::SmallVector<llvm::Type*, 9> types(arguments.size(), rows[0]->getType());
        types[0] = builder_.getInt32Ty();
        matrix = builder_.CreateCall(
            row_function(*function_.getParent(), matrix_name + llvm::Twine(band.sums.size()), pair, types), arguments);
      }
      builder_.SetInsertPoint(llvm::cast<llvm::Instruction>(matrix)->getNextNode());
      use.use->set(use.element ? builder_.CreateExtractElement(matrix, *use.element) : matrix);
    }
  }
}

// And what nobody else needs of their operands.
void SumsInRows::remove_products(const std::vector<Step>& steps, const std::vector<Band*>& bands) {
  llvm::SmallVector<llvm::WeakTrackingVH> operands, loads;
  for (const Step& step : steps) {
    for (llvm::CallInst* product : step.products) operands.append(product->arg_begin(), product->arg_end());
    loads.append(step.left->loads().begin(), step.left->loads().end());
    for (const MatrixSource* right : step.right) loads.append(right->loads().begin(), right->loads().end());
  }
  for (const Band* band : bands)
    for (const Matrix& sum : band->sums)
      for (llvm::Instruction* old :
           std::set{llvm::cast<llvm::Instruction>(sum[0].value), llvm::cast<llvm::Instruction>(sum[1].value)}) {
        old->replaceAllUsesWith(llvm::PoisonValue::get(old->getType()));
        old->eraseFromParent();
      }
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(operands);
  for (llvm::WeakTrackingVH& load : loads)
    if (auto* left_over = llvm::dyn_cast_or_null<llvm::Instruction>(load); left_over && left_over->use_empty())
      left_over->eraseFromParent();
}

Rows SumsInRows::rows_of(llvm::ArrayRef<Matrix> matrices) {
  if (const Band* band = bands_.find(matrices)) return rows_.at(band);
  Rows rows;
  if (llvm::all_of(matrices, [&](const Matrix& matrix) { return bands_.is_filled(matrix); })) {
    llvm::SmallVector<llvm::Value*, 4> parts;
    for (const Matrix& matrix : matrices) parts.push_back(builder_.CreateVectorSplat(matrix_size, matrix[0].value));
    rows.fill(llvm::concatenateVectors(builder_, parts));
    return rows;
  }
  llvm::Type* pair_type = llvm::FixedVectorType::get(builder_.getFloatTy(), 2);
  llvm::SmallVector<llvm::Value*, 5> arguments{nullptr};
  llvm::SmallVector<llvm::Type*, 5> types{builder_.getInt32Ty()};
  for (const Matrix& matrix : matrices) {
    llvm::Value* pair = llvm::PoisonValue::get(pair_type);
    for (unsigned i = 0; i < 2; ++i) {
      llvm::Value* element = matrix[i].value;
      if (element->getType()->isVectorTy()) element = builder_.CreateExtractElement(element, matrix[i].place);
      pair = builder_.CreateInsertElement(pair, element, i);
    }
    arguments.push_back(pair);
    types.push_back(pair_type);
  }
  llvm::FunctionCallee row_of =
      row_function(*function_.getParent(), rows_name + llvm::Twine(matrices.size()), row_type(matrices.size()), types);
  for (unsigned row = 0; row < matrix_size; ++row) {
    arguments[0] = builder_.getInt32(row);
    rows[row] = builder_.CreateCall(row_of, arguments);
  }
  return rows;
}

// Of matrices side by side, each of which has whole rows in memory, or whole columns.
const Rows& SumsInRows::right_rows(const std::vector<const MatrixSource*>& right) {
  const auto [found, is_new] = right_.try_emplace(right);
  Rows& rows = found->second;
  if (!is_new) return rows;
  const bool have_columns = llvm::none_of(right, [](const MatrixSource* source) { return source->has_whole_rows(); });
  for (unsigned i = 0; i < matrix_size; ++i) {
    if (!have_columns) {
      rows[i] = right_row(right, i);
      continue;
    }
    llvm::SmallVector<llvm::Value*, 4> columns;
    for (const MatrixSource* source : right) columns.push_back(source->numbers(builder_, 0, i, matrix_size));
    rows[i] = llvm::concatenateVectors(builder_, columns);
  }
  return have_columns ? rows = transposed(rows) : rows;
}

llvm::Value* SumsInRows::right_row(llvm::ArrayRef<const MatrixSource*> right, unsigned row) {
  if (are_one_in_memory(right))
    return right[0]->numbers(builder_, row, 0, static_cast<unsigned>(right.size()) * matrix_size);
  if (right.size() == 1) return right_rows(right)[row];
  const size_t half = right.size() / 2;
  return llvm::concatenateVectors(builder_,
                                  {right_row(right.take_front(half), row), right_row(right.drop_front(half), row)});
}

// Whether each row of them all is.
bool SumsInRows::are_one_in_memory(llvm::ArrayRef<const MatrixSource*> right) const {
  for (size_t i = 1; i < right.size(); ++i)
    if (right[i - 1]->distance_to(*right[i], layout_) != static_cast<int64_t>(matrix_size) * right[i]->bytes())
      return false;
  return right[0]->has_whole_rows();
}

// Of vectors of eight times eight numbers, or several such side by side.
Rows SumsInRows::transposed(const Rows& rows) {
  const unsigned size = llvm::cast<llvm::FixedVectorType>(rows[0]->getType())->getNumElements();
  // Of each eight numbers of both, those at these places; the second's begin at 8.
  const auto mixed = [&](llvm::Value* a, llvm::Value* b, const std::array<unsigned, matrix_size>& places) {
    llvm::SmallVector<int, 32> mask;
    for (unsigned i = 0; i < size; ++i) {
      const unsigned place = places[i % matrix_size];
      mask.push_back(
          static_cast<int>(i / matrix_size * matrix_size + place % matrix_size + (place < matrix_size ? 0 : size)));
    }
    return builder_.CreateShuffleVector(a, b, mask);
  };
  Rows of_two, of_four, of_eight;  // rows, as in the instructions of x86
  for (unsigned i = 0; i < 4; ++i) {
    of_two[2 * i] = mixed(rows[2 * i], rows[2 * i + 1], {0, 8, 1, 9, 4, 12, 5, 13});
    of_two[2 * i + 1] = mixed(rows[2 * i], rows[2 * i + 1], {2, 10, 3, 11, 6, 14, 7, 15});
  }
  for (unsigned i : {0, 1, 4, 5}) {
    const unsigned first = i / 4 * 4 + i % 2 * 2;
    of_four[first] = mixed(of_two[i], of_two[i + 2], {0, 1, 8, 9, 4, 5, 12, 13});
    of_four[first + 1] = mixed(of_two[i], of_two[i + 2], {2, 3, 10, 11, 6, 7, 14, 15});
  }
  for (unsigned i = 0; i < 4; ++i) {
    of_eight[i] = mixed(of_four[i], of_four[i + 4], {0, 1, 2, 3, 8, 9, 10, 11});
    of_eight[i + 4] = mixed(of_four[i], of_four[i + 4], {4, 5, 6, 7, 12, 13, 14, 15});
  }
  return of_eight;
}

// Halves and bfloats are converted eight at a time.
llvm::Value* SumsInRows::left_number(const MatrixSource& left, unsigned row, unsigned k) {
  const bool by_rows = left.has_whole_rows();
  if (left.has_floats() || (!by_rows && !left.has_whole_columns())) {
    llvm::Value*& number = left_[{&left, row * matrix_size + k}];
    return number ? number : number = left.number(builder_, row, k);
  }
  llvm::Value*& numbers = left_[{&left, by_rows ? row : k}];
  if (!numbers) numbers = left.numbers(builder_, by_rows ? row : 0, by_rows ? 0 : k, matrix_size);
  return builder_.CreateExtractElement(numbers, by_rows ? k : row);
}

}  // namespace

bool is_row_function(llvm::StringRef name) {
  return llvm::any_of(std::array{rows_name, matrix_name, lane_0_name},
                      [&](llvm::StringRef start) { return name.starts_with(start); });
}

llvm::FunctionCallee row_function(llvm::Module& module, const llvm::Twine& name, llvm::Type* result,
                                  llvm::ArrayRef<llvm::Type*> parameters) {
  llvm::FunctionCallee function =
      module.getOrInsertFunction(name.str(), llvm::FunctionType::get(result, parameters, /*isVarArg=*/false));
  auto* declared = llvm::cast<llvm::Function>(function.getCallee());
  declared->setDoesNotAccessMemory();
  declared->setDoesNotThrow();
  declared->setWillReturn();
  return function;
}

bool sum_in_rows(llvm::Function& lane_form, const llvm::LoopInfo& loops, const ShapeAnalysis& shapes) {
  Bands bands(lane_form, loops, shapes);
  if (bands.steps().empty()) return false;
  SumsInRows(lane_form, bands).make(bands.steps(), bands.bands());
  return true;
}

}  // namespace metalloid::cpu::vector
