// Reductions and prefixes over the lanes of a group.
//
// If all 32 lanes call, a reduction exchanges values with lane l ^ 16, then l ^ 8, and so on: the order of the CPU's
// engines. If only some do, the same tree has gaps. Before the step of distance s, lanes that are equal modulo 2s have
// the same partial result; a lane takes that of any active lane that is equal to l ^ s modulo 2s, and if there is none
// keeps its own. Integers of up to 32 bits have an instruction for any set of lanes, from sm_80 on.
//
// Prefixes of 32 lanes add the lanes 1, 2, 4, … below. Of some lanes, each knows the active lane before it, and the
// distance doubles by asking that lane for its own. Half is computed as float and rounded once.
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include <optional>

#include "nvidia/lower/group_functions_lanes.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

enum class Operation { sum, product, min, max, bitwise_and, bitwise_or, bitwise_xor };

// An operation on the type in which it is computed.
struct Arithmetic {
  llvm::IRBuilder<>& builder;
  Operation operation;
  bool is_float, is_signed;

  Arithmetic(const Lanes& lanes, const GroupFunction& function)
      : builder(lanes.builder),
        operation(llvm::StringSwitch<Operation>(function.operation)
                      .EndsWith("sum", Operation::sum)
                      .EndsWith("product", Operation::product)
                      .Case("min", Operation::min)
                      .Case("max", Operation::max)
                      .Case("and", Operation::bitwise_and)
                      .Case("or", Operation::bitwise_or)
                      .Default(Operation::bitwise_xor)),
        is_float(function.is_floating_point()),
        is_signed(function.is_signed()) {}

  Value* combine(Value* a, Value* b) const {
    switch (operation) {
      case Operation::sum:
        return is_float ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
      case Operation::product:
        return is_float ? builder.CreateFMul(a, b) : builder.CreateMul(a, b);
      case Operation::min:
        return builder.CreateBinaryIntrinsic(is_float    ? llvm::Intrinsic::minnum
                                             : is_signed ? llvm::Intrinsic::smin
                                                         : llvm::Intrinsic::umin,
                                             a, b);
      case Operation::max:
        return builder.CreateBinaryIntrinsic(is_float    ? llvm::Intrinsic::maxnum
                                             : is_signed ? llvm::Intrinsic::smax
                                                         : llvm::Intrinsic::umax,
                                             a, b);
      case Operation::bitwise_and:
        return builder.CreateAnd(a, b);
      case Operation::bitwise_or:
        return builder.CreateOr(a, b);
      default:
        return builder.CreateXor(a, b);
    }
  }

  // The instruction that reduces 32 bits over any lanes of a SIMD-group.
  std::optional<llvm::Intrinsic::ID> instruction() const {
    switch (operation) {
      case Operation::sum:
        return llvm::Intrinsic::nvvm_redux_sync_add;
      case Operation::min:
        return is_signed ? llvm::Intrinsic::nvvm_redux_sync_min : llvm::Intrinsic::nvvm_redux_sync_umin;
      case Operation::max:
        return is_signed ? llvm::Intrinsic::nvvm_redux_sync_max : llvm::Intrinsic::nvvm_redux_sync_umax;
      case Operation::bitwise_and:
        return llvm::Intrinsic::nvvm_redux_sync_and;
      case Operation::bitwise_or:
        return llvm::Intrinsic::nvvm_redux_sync_or;
      case Operation::bitwise_xor:
        return llvm::Intrinsic::nvvm_redux_sync_xor;
      default:
        return std::nullopt;
    }
  }
};

Value* computed_form(llvm::IRBuilder<>& builder, Value* value) {
  return value->getType()->isHalfTy() ? builder.CreateFPExt(value, builder.getFloatTy()) : value;
}

Value* rounded_to(llvm::IRBuilder<>& builder, Value* value, llvm::Type* type) {
  return value->getType() == type ? value : builder.CreateFPTrunc(value, type);
}

// One of two ways to compute a value, by whether all 32 lanes call.
template <class OfAll, class OfSome>
Value* by_presence(const Lanes& lanes, OfAll of_all, OfSome of_some) {
  llvm::IRBuilder<>& builder = lanes.builder;
  llvm::Function* const function = builder.GetInsertBlock()->getParent();
  const auto block = [&](const char* name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); };
  llvm::BasicBlock *all = block("all"), *some = block("some"), *join = block("");
  builder.CreateCondBr(lanes.is_full(), all, some);
  llvm::SmallVector<std::pair<Value*, llvm::BasicBlock*>, 2> results;
  const auto side = [&](llvm::BasicBlock* start, auto compute) {
    builder.SetInsertPoint(start);
    Value* const result = compute();
    results.push_back({result, builder.GetInsertBlock()});
    builder.CreateBr(join);
  };
  side(all, of_all);
  side(some, of_some);
  builder.SetInsertPoint(join);
  llvm::PHINode* const result = builder.CreatePHI(results[0].first->getType(), 2);
  for (const auto& [value, from] : results) result->addIncoming(value, from);
  return result;
}

// A loop that all lanes go through together and whose state is `values`; `step` gives the next state, and whether there
// is one more turn. It stays a loop: few SIMD-groups are partial, and kernels have many reductions.
template <class Step>
llvm::SmallVector<Value*> repeat(llvm::IRBuilder<>& builder, llvm::ArrayRef<Value*> values, Step step) {
  llvm::BasicBlock* const before = builder.GetInsertBlock();
  llvm::Function* const function = before->getParent();
  auto *loop = llvm::BasicBlock::Create(builder.getContext(), "loop", function),
       *after = llvm::BasicBlock::Create(builder.getContext(), "", function);
  builder.CreateBr(loop);
  builder.SetInsertPoint(loop);
  llvm::SmallVector<Value*> state;
  for (Value* value : values) {
    llvm::PHINode* const phi = builder.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    state.push_back(phi);
  }
  auto [next, more] = step(state);
  for (size_t i = 0; i < state.size(); ++i) llvm::cast<llvm::PHINode>(state[i])->addIncoming(next[i], loop);
  llvm::BranchInst* const branch = builder.CreateCondBr(more, loop, after);
  llvm::LLVMContext& context = builder.getContext();
  auto* const kept = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.disable"));
  llvm::MDNode* const id = llvm::MDNode::getDistinct(context, {nullptr, kept});
  id->replaceOperandWith(0, id);
  branch->setMetadata(llvm::LLVMContext::MD_loop, id);
  builder.SetInsertPoint(after);
  return next;
}

struct Turn {
  llvm::SmallVector<Value*> next;
  Value* more;
};

Value* reduce_all(const Lanes& lanes, const Arithmetic& arithmetic, Value* value) {
  Value* const mask = lanes.builder.getInt32(Lanes::every);
  for (unsigned step = lanes.size / 2; step != 0; step /= 2)
    value = arithmetic.combine(value, lanes.take_xor(value, lanes.builder.getInt32(step), mask));
  return value;
}

Value* reduce_some(const Lanes& lanes, const Arithmetic& arithmetic, Value* value) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value* const one = builder.getInt32(1);
  Value* const active = lanes.active_lanes();
  // The lowest lane of each class, a bit for each lane that is equal to it.
  Value* const equals = builder.CreateShl(one, lanes.first);
  const auto turn = [&](llvm::ArrayRef<Value*> state) -> Turn {
    Value *const own = state[0], *const step = state[1], *const equal = state[2];
    Value* const modulus = builder.CreateShl(step, 1);
    Value* const partner = builder.CreateAnd(builder.CreateXor(lanes.place, step), builder.CreateSub(modulus, one));
    Value* const candidates = builder.CreateAnd(active, builder.CreateShl(equal, partner));
    Value* const lowest = builder.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, candidates, builder.getFalse());
    Value* const other = lanes.take(own, lowest, lanes.active);
    Value* const combined =
        builder.CreateSelect(builder.CreateIsNotNull(candidates), arithmetic.combine(own, other), own);
    Value* const next_step = builder.CreateLShr(step, 1);
    Value* const next_equal = builder.CreateOr(equal, builder.CreateShl(equal, step));
    return {{combined, next_step, next_equal}, builder.CreateIsNotNull(next_step)};
  };
  return repeat(builder, {value, builder.getInt32(lanes.size / 2), equals}, turn)[0];
}

Value* prefix_all(const Lanes& lanes, const Arithmetic& arithmetic, Value* value, Value* neutral, bool is_exclusive) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value* const mask = builder.getInt32(Lanes::every);
  const auto moved_up = [&](unsigned step) {
    Value* const distance = builder.getInt32(step);
    return lanes.order == LaneOrder::hardware ? lanes.take_below(value, distance, mask)
                                              : lanes.take(value, builder.CreateSub(lanes.lane, distance), mask);
  };
  const auto exists = [&](unsigned step) { return builder.CreateICmpUGE(lanes.place, builder.getInt32(step)); };
  for (unsigned step = 1; step < lanes.size; step *= 2)
    value = builder.CreateSelect(exists(step), arithmetic.combine(moved_up(step), value), value);
  return is_exclusive ? builder.CreateSelect(exists(1), moved_up(1), neutral) : value;
}

Value* prefix_some(const Lanes& lanes, const Arithmetic& arithmetic, Value* value, Value* neutral, bool is_exclusive) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value *const one = builder.getInt32(1), *const none = builder.getInt32(~0u);
  Value* const below = builder.CreateAnd(lanes.in_group(lanes.active_lanes()),
                                         builder.CreateSub(builder.CreateShl(one, lanes.place), one));
  const auto exists = [&](Value* lane) { return builder.CreateICmpSGE(lane, builder.getInt32(0)); };
  Value* const highest = builder.CreateSub(
      builder.getInt32(31), builder.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, below, builder.getFalse()));
  Value* const previous =
      builder.CreateSelect(builder.CreateIsNotNull(below), builder.CreateOr(lanes.first, highest), none);
  const auto turn = [&](llvm::ArrayRef<Value*> state) -> Turn {
    Value *const own = state[0], *const before = state[1], *const step = state[2];
    Value* const other = lanes.take(own, before, lanes.active);
    Value* const before_other = lanes.take(before, before, lanes.active);
    Value* const combined = builder.CreateSelect(exists(before), arithmetic.combine(other, own), own);
    Value* const next = builder.CreateSelect(exists(before), before_other, none);
    Value* const next_step = builder.CreateShl(step, 1);
    return {{combined, next, next_step}, builder.CreateICmpULT(next_step, builder.getInt32(lanes.size))};
  };
  value = repeat(builder, {value, previous, one}, turn)[0];
  if (!is_exclusive) return value;
  return builder.CreateSelect(exists(previous), lanes.take(value, previous, lanes.active), neutral);
}

// By the hardware, of integers of at most 32 bits.
Value* reduce_by_instruction(const Lanes& lanes, const Arithmetic& arithmetic, Value* value) {
  llvm::IRBuilder<>& builder = lanes.builder;
  Value* const word = builder.CreateIntCast(value, builder.getInt32Ty(), arithmetic.is_signed);
  Value* const result = builder.CreateIntrinsic(*arithmetic.instruction(), {}, {word, lanes.active});
  return builder.CreateTrunc(result, value->getType());
}

}  // namespace

Value* emit_reduction(const Lanes& lanes, const GroupFunction& function, Value* value) {
  const Arithmetic arithmetic(lanes, function);
  llvm::Type* const type = value->getType();
  constexpr uint32_t has_reductions = 80;
  if (!arithmetic.is_float && !function.is_quad && arithmetic.instruction() && type->getIntegerBitWidth() <= 32 &&
      lanes.architecture.capability >= has_reductions)
    return reduce_by_instruction(lanes, arithmetic, value);
  value = computed_form(lanes.builder, value);
  value = by_presence(
      lanes, [&] { return reduce_all(lanes, arithmetic, value); },
      [&] { return reduce_some(lanes, arithmetic, value); });
  return rounded_to(lanes.builder, value, type);
}

Value* emit_prefix(const Lanes& lanes, const GroupFunction& function, Value* value) {
  const Arithmetic arithmetic(lanes, function);
  llvm::Type* const type = value->getType();
  value = computed_form(lanes.builder, value);
  const unsigned number = arithmetic.operation == Operation::sum ? 0 : 1;
  Value* const neutral = arithmetic.is_float ? llvm::ConstantFP::get(value->getType(), number)
                                             : llvm::ConstantInt::get(value->getType(), number);
  const bool is_exclusive = function.operation.starts_with("prefix_exclusive");
  value = by_presence(
      lanes, [&] { return prefix_all(lanes, arithmetic, value, neutral, is_exclusive); },
      [&] { return prefix_some(lanes, arithmetic, value, neutral, is_exclusive); });
  return rounded_to(lanes.builder, value, type);
}

}  // namespace metalloid::nvidia::lower
