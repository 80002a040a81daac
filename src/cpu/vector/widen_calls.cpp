// Calls. Group functions, barriers and accesses of one texture are made once for all lanes, LLVM's own functions for
// vectors. What is left after inlining, as recursive functions, is called by one lane after the other.
#include <llvm/IR/IntrinsicInst.h>

#include <vector>

#include "cpu/textures/texture_calls.hpp"
#include "cpu/vector/accesses.hpp"
#include "cpu/vector/all_lanes.hpp"
#include "cpu/vector/groups.hpp"
#include "cpu/vector/join_products.hpp"
#include "cpu/vector/lane_form.hpp"
#include "cpu/vector/lane_loops.hpp"
#include "cpu/vector/lone_lanes.hpp"
#include "cpu/vector/matrix_rows.hpp"
#include "cpu/vector/restarts.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

// Hints that mean nothing to what comes after.
bool is_hint(llvm::Intrinsic::ID id) {
  switch (id) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::lifetime_start:
    case llvm::Intrinsic::lifetime_end:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::var_annotation:
    case llvm::Intrinsic::dbg_value:
    case llvm::Intrinsic::dbg_declare:
      return true;
    default:
      return false;
  }
}

// How far the last lane is from lane 0, if all lanes are between them.
std::optional<uint64_t> upward_steps(const Shape& shape) {
  constexpr int64_t most = 1 << 20;
  if (!shape.is_known() || shape.factor || !shape.guards.empty()) return std::nullopt;
  int64_t largest = 0;
  for (unsigned l = 0; l < shape.offsets.size(); ++l) {
    if (shape.step(l) < 0 || shape.step(l) > most) return std::nullopt;
    largest = std::max(largest, shape.step(l));
  }
  return largest;
}

}  // namespace

void Widener::widen_call(llvm::CallInst& call) {
  const llvm::Function* called = call.getCalledFunction();
  if (!called) return give_up(call);
  const llvm::StringRef name = called->getName();
  if (name == lane_function) {
    define_scalar(call, builder_.getInt32(0));
  } else if (name == start_again_function) {
    start_again();
  } else if (name == all_lanes_function) {
    define_scalar(call, holds_in_all_lanes(call.getArgOperand(0)));
  } else if (name == "metal.threadgroup_barrier") {
    if (loops_.getLoopFor(call.getParent())) note(call, Hindrance::barrier_in_loop);
    builder_.CreateCall(
        old_.getParent()->getOrInsertFunction(barrier_function, builder_.getVoidTy(), builder_.getPtrTy()),
        {new_->getArg(0)});
  } else if (name == "metal.simdgroup_barrier") {
    // All lanes are here, and what they did before is done.
  } else if (name == turn_function) {
    clone_scalar(call);
  } else if (is_matrix_product(name)) {
    if (!lanes_.contains(&call)) widen_products(call);
  } else if (is_row_function(name)) {
    widen_row_function(call);
  } else if (is_group_function(name)) {
    llvm::SmallVector<Operand> operands;
    for (llvm::Value* argument : call.args()) operands.push_back(operand(argument));
    Components result = width_ > lanes_of_simdgroup ? call_in_simdgroups(*called, operands)
                                                    : emit_group_call(emission(), *called, operands);
    if (call.getType()->isVoidTy()) return;
    if (shapes_.is_known(&call))
      define_scalar(call, result[0]);
    else
      define(call, std::move(result));
  } else if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call)) {
    if (is_hint(intrinsic->getIntrinsicID())) return;
    if (intrinsic->getIntrinsicID() == llvm::Intrinsic::prefetch) return widen_prefetch(*intrinsic);
    if (shapes_.is_known(&call))
      clone_scalar(call);
    else
      define(call, widened_intrinsic(*intrinsic));
  } else if (textures::is_native(name) && shapes_.are_uniform(textures::resources(call))) {
    access_texture(call);
  } else {
    call_lane_by_lane(call);
  }
}

void Widener::access_texture(llvm::CallInst& call) {
  llvm::SmallVector<llvm::Value*> resources, rows;
  for (llvm::Value* resource : textures::resources(call)) resources.push_back(scalar(resource));
  for (llvm::Value* argument : llvm::drop_begin(call.args(), resources.size()))
    llvm::append_range(rows, lanes(argument));
  const auto results = textures::access(builder_, call, resources, rows, emission().mask_bits());
  if (!results.empty()) define(call, Components(results.begin(), results.end()));
}

// With those beside it, as many as have room for their sums in half of the registers.
void Widener::widen_products(llvm::CallInst& first) {
  const auto products = products_side_by_side(first, has_mask_registers_ ? 4 : 1);
  std::vector<MatrixProduct> made;
  for (const llvm::CallInst* product : products) {
    made.push_back({product->getCalledFunction(), {}});
    for (llvm::Value* argument : product->args()) made.back().operands.push_back(operand(argument));
  }
  const std::vector<Components> results = emit_matrix_products(emission(), made);
  for (size_t i = 0; i < products.size(); ++i) define(*products[i], results[i]);
}

void Widener::widen_row_function(llvm::CallInst& call) {
  const llvm::StringRef name = call.getCalledFunction()->getName();
  if (name.starts_with(lane_0_name)) return define_scalar(call, scalar(call.getArgOperand(0)));
  const auto number = static_cast<unsigned>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue());
  if (name.starts_with(rows_name)) {
    llvm::SmallVector<Components> matrices;
    for (llvm::Value* matrix : llvm::drop_begin(call.args())) matrices.push_back(lanes(matrix));
    define_scalar(call, emit_row_of_matrices(emission(), number, matrices));
  } else {
    llvm::SmallVector<llvm::Value*> rows;
    for (llvm::Value* row : llvm::drop_begin(call.args())) rows.push_back(scalar(row));
    define(call, emit_matrix_of_rows(emission(), number, rows));
  }
}

// Each SIMD-group of the group by itself.
Components Widener::call_in_simdgroups(const llvm::Function& called, llvm::ArrayRef<Operand> operands) {
  std::vector<Components> parts;
  for (unsigned first = 0; first < width_; first += lanes_of_simdgroup) {
    const auto part = [&](llvm::Value* lanes) {
      return builder_.CreateShuffleVector(lanes, every(lanes_of_simdgroup, 1, first));
    };
    llvm::SmallVector<Operand> own;
    for (const Operand& operand : operands) {
      own.push_back({operand.uniform, {}});
      for (llvm::Value* lanes : operand.lanes) own.back().lanes.push_back(part(lanes));
    }
    parts.push_back(emit_group_call({builder_, lanes_of_simdgroup, mask_ ? part(mask_) : nullptr}, called, own));
    for (llvm::Value*& value : parts.back())
      if (!value->getType()->isVectorTy()) value = builder_.CreateVectorSplat(lanes_of_simdgroup, value);
  }
  Components result;
  for (size_t i = 0; i < parts[0].size(); ++i) {
    llvm::SmallVector<llvm::Value*> all;
    for (const Components& part : parts) all.push_back(part[i]);
    result.push_back(concatenated(all));
  }
  return result;
}

// Of lanes that count upwards, the last decides whether all are below a limit, and lane 0 whether none is.
llvm::Value* Widener::holds_in_all_lanes(llvm::Value* condition) {
  if (shapes_.is_uniform(condition)) return scalar(condition);
  auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(condition);
  if (llvm::Value* holds = comparison ? holds_in_first_or_last(*comparison) : nullptr) return holds;
  llvm::Value* lanes = builder_.CreateFreeze(vector(condition));
  return all(mask_ ? builder_.CreateOr(lanes, builder_.CreateNot(mask_)) : lanes);
}

// Null: the comparison is none with a limit.
llvm::Value* Widener::holds_in_first_or_last(llvm::ICmpInst& comparison) {
  llvm::Value *count = comparison.getOperand(0), *limit = comparison.getOperand(1);
  llvm::CmpInst::Predicate predicate = comparison.getPredicate();
  if (shapes_.is_uniform(count)) {
    std::swap(count, limit);
    predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  }
  const Shape shape = shapes_.shape(count);
  const auto steps = upward_steps(shape);
  if (!steps || !shapes_.is_uniform(limit) || !llvm::ICmpInst::isRelational(predicate)) return nullptr;
  const bool is_signed = llvm::CmpInst::isSigned(predicate);
  llvm::Value *first = scalar(count), *distance = llvm::ConstantInt::get(count->getType(), *steps);
  llvm::Value* last = builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::sadd_sat : llvm::Intrinsic::uadd_sat,
                                                     first, distance);
  if (llvm::ICmpInst::isLT(predicate) || llvm::ICmpInst::isLE(predicate))
    return builder_.CreateICmp(predicate, last, scalar(limit));
  llvm::Value* above = builder_.CreateICmp(predicate, first, scalar(limit));
  if (is_signed ? shape.is_exact_signed : shape.is_exact_unsigned) return above;
  return builder_.CreateAnd(above, builder_.CreateICmpEQ(builder_.CreateSub(last, first), distance));  // none wraps
}

void Widener::call_lane_by_lane(llvm::CallInst& call) {
  note(call, is_lone_lane(*call.getCalledFunction()) ? Hindrance::lone_lane : Hindrance::call);
  llvm::IRBuilder<> start(entry_, entry_->begin());
  llvm::SmallVector<llvm::AllocaInst*> results;
  llvm::SmallVector<llvm::Type*, 2> types;
  if (!call.getType()->isVoidTy()) types = scalars_of(call.getType());
  for (llvm::Type* type : types) {
    results.push_back(start.CreateAlloca(llvm::ArrayType::get(type, width_)));
    results.back()->setAlignment(llvm::Align(64));
  }

  llvm::SmallVector<Components> arguments;
  for (llvm::Value* argument : call.args())
    arguments.push_back(shapes_.is_uniform(argument) ? Components{} : lanes(argument));
  llvm::SmallVector<llvm::Value*> uniform;
  for (llvm::Value* argument : call.args())
    uniform.push_back(shapes_.is_uniform(argument) ? scalar(argument) : nullptr);

  // A value of one lane, put together from its scalars.
  llvm::Value* lane = nullptr;
  const std::function<llvm::Value*(llvm::Type*, const Components&, size_t&)> assemble =
      [&](llvm::Type* type, const Components& parts, size_t& next) -> llvm::Value* {
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      llvm::Value* value = llvm::PoisonValue::get(type);
      for (unsigned i = 0; i < vector->getNumElements(); ++i)
        value = builder_.CreateInsertElement(value, builder_.CreateExtractElement(parts[next++], lane), i);
      return value;
    }
    if (!type->isAggregateType()) return builder_.CreateExtractElement(parts[next++], lane);
    llvm::Value* value = llvm::PoisonValue::get(type);
    const auto count = type->isArrayTy() ? type->getArrayNumElements() : type->getStructNumElements();
    for (unsigned i = 0; i < count; ++i)
      value = builder_.CreateInsertValue(
          value, assemble(llvm::GetElementPtrInst::getTypeAtIndex(type, uint64_t{i}), parts, next), i);
    return value;
  };
  // And taken apart again.
  size_t place = 0;
  const std::function<void(llvm::Value*)> keep = [&](llvm::Value* value) {
    llvm::Type* type = value->getType();
    if (auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
      for (unsigned i = 0; i < vector->getNumElements(); ++i) keep(builder_.CreateExtractElement(value, i));
    } else if (type->isAggregateType()) {
      const auto count = type->isArrayTy() ? type->getArrayNumElements() : type->getStructNumElements();
      for (unsigned i = 0; i < count; ++i) keep(builder_.CreateExtractValue(value, i));
    } else {
      if (type->isIntegerTy(1)) value = builder_.CreateZExt(value, builder_.getInt8Ty());
      builder_.CreateStore(value, builder_.CreateInBoundsGEP(value->getType(), results[place++], {lane}));
    }
  };
  loop_over_lanes(builder_, emission().mask_bits(), [&](llvm::Value* this_lane) {
    lane = this_lane;
    llvm::SmallVector<llvm::Value*> values;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      size_t next = 0;
      values.push_back(uniform[i] ? uniform[i] : assemble(call.getArgOperand(i)->getType(), arguments[i], next));
    }
    auto* copy = llvm::cast<llvm::CallInst>(call.clone());
    for (unsigned i = 0; i < call.arg_size(); ++i) copy->setArgOperand(i, values[i]);
    builder_.Insert(copy);
    if (!call.getType()->isVoidTy()) keep(copy);
  });
  if (call.getType()->isVoidTy()) return;
  Components components;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i]->isIntegerTy(1))
      components.push_back(builder_.CreateIsNotNull(builder_.CreateLoad(vector_of(builder_.getInt8Ty()), results[i])));
    else
      components.push_back(builder_.CreateLoad(vector_of(types[i]), results[i]));
  }
  define(call, std::move(components));
}

}  // namespace metalloid::cpu::vector
