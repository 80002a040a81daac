// Loads and stores of simdgroup matrices: each lane's two elements (docs/builtins.md), for themselves. They are next to
// each other in memory, or in a column of a transposed matrix, and aligned to an element only.
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include <array>

#include "nvidia/lower/lane_order.hpp"
#include "nvidia/lower/passes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

// Of a lane's first element; the second is in the next column.
struct Place {
  Value *row, *column;
};

Place place_of_lane(llvm::IRBuilder<>& builder, LaneOrder order) {
  Value* const lane = hardware_lane(builder);
  const auto bits = [&](unsigned shift, unsigned mask) {
    return builder.CreateAnd(builder.CreateLShr(lane, shift), mask);
  };
  if (order == LaneOrder::matrix) return {builder.CreateLShr(lane, 2), builder.CreateShl(bits(0, 3), 1)};
  return {builder.CreateOr(bits(2, 4), bits(1, 3)),
          builder.CreateOr(builder.CreateShl(bits(2, 2), 1), builder.CreateShl(bits(0, 1), 1))};
}

std::array<Value*, 2> addresses(llvm::IRBuilder<>& builder, LaneOrder order, llvm::Type* element, Value* matrix,
                                Value* elements_per_row, Value* transpose) {
  const auto [row, column] = place_of_lane(builder, order);
  const auto wide = [&](Value* number) { return builder.CreateZExt(number, builder.getInt64Ty()); };
  Value* const one = builder.getInt64(1);
  Value* const across = builder.CreateSelect(transpose, one, elements_per_row);  // from row to row
  Value* const along = builder.CreateSelect(transpose, elements_per_row, one);   // from column to column
  Value* const first = builder.CreateAdd(builder.CreateMul(wide(row), across), builder.CreateMul(wide(column), along));
  Value* const address = builder.CreateGEP(element, matrix, first);
  return {address, builder.CreateGEP(element, address, along)};
}

void lower_load(llvm::CallInst& call, LaneOrder order) {
  llvm::IRBuilder<> builder(&call);
  llvm::Type* const element = call.getType()->getScalarType();
  const llvm::Align alignment(element->getScalarSizeInBits() / 8);
  Value* matrix = llvm::PoisonValue::get(call.getType());
  uint64_t place = 0;
  for (Value* address :
       addresses(builder, order, element, call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)))
    matrix = builder.CreateInsertElement(matrix, builder.CreateAlignedLoad(element, address, alignment), place++);
  call.replaceAllUsesWith(matrix);
}

void lower_store(llvm::CallInst& call, LaneOrder order) {
  llvm::IRBuilder<> builder(&call);
  Value* const matrix = call.getArgOperand(0);
  llvm::Type* const element = matrix->getType()->getScalarType();
  const llvm::Align alignment(element->getScalarSizeInBits() / 8);
  uint64_t place = 0;
  for (Value* address :
       addresses(builder, order, element, call.getArgOperand(1), call.getArgOperand(2), call.getArgOperand(3)))
    builder.CreateAlignedStore(builder.CreateExtractElement(matrix, place++), address, alignment);
}

}  // namespace

void lower_matrices(llvm::Module& module, const Architecture&) {
  const LaneOrder order = lane_order(module);
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    const bool is_load = function.getName().starts_with("metal.simdgroup_load.");
    if (!is_load && !function.getName().starts_with("metal.simdgroup_store.")) continue;
    for (llvm::User* user : llvm::make_early_inc_range(function.users())) {
      auto* call = llvm::cast<llvm::CallInst>(user);
      if (is_load)
        lower_load(*call, order);
      else
        lower_store(*call, order);
      call->eraseFromParent();
    }
    function.eraseFromParent();
  }
}

}  // namespace metalloid::nvidia::lower
