// Reductions and prefixes over the lanes of a group, in the order of the reference engine: lane l with lane l + 16,
// then l + 8, and so on, each step on half as many lanes. Prefixes add the lanes 1, 2, 4, … below, which for floating
// point is another order than lane by lane. Half is computed as float and rounded once.
//
// An inactive lane has a value that changes no other: 0 in a sum, NaN in a minimum of floats, which a number beats.
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

#include "cpu/vector/group_calls.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

enum class Operation { sum, product, min, max, bitwise_and, bitwise_or, bitwise_xor };

Operation operation_of(llvm::StringRef name) {
  return llvm::StringSwitch<Operation>(name)
      .EndsWith("sum", Operation::sum)
      .EndsWith("product", Operation::product)
      .Case("min", Operation::min)
      .Case("max", Operation::max)
      .Case("and", Operation::bitwise_and)
      .Case("or", Operation::bitwise_or)
      .Default(Operation::bitwise_xor);
}

// An operation on the type in which it is computed.
struct Arithmetic {
  llvm::IRBuilder<>& builder;
  Operation operation;
  bool is_float, is_signed;

  Value* combine(Value* a, Value* b) const {
    switch (operation) {
      case Operation::sum:
        return is_float ? builder.CreateFAdd(a, b) : builder.CreateAdd(a, b);
      case Operation::product:
        return is_float ? builder.CreateFMul(a, b) : builder.CreateMul(a, b);
      case Operation::min:
        return builder.CreateBinaryIntrinsic(least(), a, b);
      case Operation::max:
        return builder.CreateBinaryIntrinsic(greatest(), a, b);
      case Operation::bitwise_and:
        return builder.CreateAnd(a, b);
      case Operation::bitwise_or:
        return builder.CreateOr(a, b);
      default:
        return builder.CreateXor(a, b);
    }
  }

  // All elements of a vector of integers, in whatever order: they wrap.
  Value* reduce_integers(Value* value) const {
    switch (operation) {
      case Operation::sum:
        return builder.CreateAddReduce(value);
      case Operation::product:
        return builder.CreateMulReduce(value);
      case Operation::min:
        return builder.CreateIntMinReduce(value, is_signed);
      case Operation::max:
        return builder.CreateIntMaxReduce(value, is_signed);
      case Operation::bitwise_and:
        return builder.CreateAndReduce(value);
      case Operation::bitwise_or:
        return builder.CreateOrReduce(value);
      default:
        return builder.CreateXorReduce(value);
    }
  }

  llvm::Constant* neutral(llvm::Type* type) const {
    const unsigned bits = type->getScalarSizeInBits();
    switch (operation) {
      case Operation::sum:
        return is_float ? llvm::ConstantFP::getNegativeZero(type) : llvm::Constant::getNullValue(type);
      case Operation::product:
        return is_float ? llvm::ConstantFP::get(type, 1) : llvm::ConstantInt::get(type, 1);
      case Operation::min:
        if (is_float) return llvm::ConstantFP::getNaN(type);
        return llvm::ConstantInt::get(
            type, is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
      case Operation::max:
        if (is_float) return llvm::ConstantFP::getNaN(type);
        return llvm::ConstantInt::get(
            type, is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
      case Operation::bitwise_and:
        return llvm::Constant::getAllOnesValue(type);
      default:
        return llvm::Constant::getNullValue(type);
    }
  }

 private:
  llvm::Intrinsic::ID least() const {
    return is_float ? llvm::Intrinsic::minnum : is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin;
  }
  llvm::Intrinsic::ID greatest() const {
    return is_float ? llvm::Intrinsic::maxnum : is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax;
  }
};

Arithmetic arithmetic_of(const Emission& emission, const GroupFunction& function) {
  return {emission.builder, operation_of(function.operation), function.is_floating_point(), function.is_signed()};
}

Value* computed_form(const Emission& emission, Value* value) {
  return value->getType()->getScalarType()->isHalfTy()
             ? emission.builder.CreateFPExt(value, emission.vector_of(emission.builder.getFloatTy()))
             : value;
}

Value* rounded_to(const Emission& emission, Value* value, llvm::Type* scalar) {
  if (value->getType()->getScalarType() == scalar) return value;
  return emission.builder.CreateFPTrunc(value, value->getType()->isVectorTy() ? emission.vector_of(scalar) : scalar);
}

Value* reduce_floats(const Arithmetic& arithmetic, Value* value, unsigned lanes) {
  for (unsigned step = lanes / 2; step != 0; step /= 2) {
    llvm::SmallVector<int, 16> low, high;
    for (unsigned lane = 0; lane < step; ++lane) {
      low.push_back(static_cast<int>(lane));
      high.push_back(static_cast<int>(lane + step));
    }
    value = arithmetic.combine(arithmetic.builder.CreateShuffleVector(value, low),
                               arithmetic.builder.CreateShuffleVector(value, high));
  }
  return arithmetic.builder.CreateExtractElement(value, uint64_t{0});
}

Value* reduce_quads(const Emission& emission, const Arithmetic& arithmetic, Value* value) {
  for (unsigned step : {2u, 1u})
    value = arithmetic.combine(
        rearranged(emission, value, [&](unsigned lane) { return lane / 4 * 4 + lane % step; }),
        rearranged(emission, value, [&](unsigned lane) { return lane / 4 * 4 + lane % step + step; }));
  return value;
}

// Values of `step` lanes below; the lowest of each group get `other`.
Value* moved_up(const Emission& emission, Value* value, Value* other, unsigned step, unsigned group) {
  llvm::SmallVector<int, 32> sources;
  for (unsigned lane = 0; lane < emission.width; ++lane)
    sources.push_back(static_cast<int>(lane % group < step ? emission.width : lane - step));
  return emission.builder.CreateShuffleVector(value, other, sources);
}

}  // namespace

Components emit_reduction(const Emission& emission, const GroupFunction& function, Value* value) {
  const Arithmetic arithmetic = arithmetic_of(emission, function);
  llvm::Type* const type = value->getType()->getScalarType();
  value = computed_form(emission, value);
  value = of_active_lanes(emission, value, arithmetic.neutral(value->getType()));
  value = function.is_quad      ? reduce_quads(emission, arithmetic, value)
          : arithmetic.is_float ? reduce_floats(arithmetic, value, emission.width)
                                : arithmetic.reduce_integers(value);
  return {rounded_to(emission, value, type)};
}

Components emit_prefix(const Emission& emission, const GroupFunction& function, Value* value) {
  const Arithmetic arithmetic = arithmetic_of(emission, function);
  const unsigned group = function.is_quad ? 4 : emission.width;
  llvm::Type* const type = value->getType()->getScalarType();
  value = computed_form(emission, value);
  llvm::Constant* const neutral = arithmetic.operation == Operation::sum
                                      ? llvm::Constant::getNullValue(value->getType())
                                      : arithmetic.neutral(value->getType());
  value = of_active_lanes(emission, value, neutral);
  for (unsigned step = 1; step < group; step *= 2)
    value = arithmetic.combine(moved_up(emission, value, neutral, step, group), value);
  if (function.operation.starts_with("prefix_exclusive")) value = moved_up(emission, value, neutral, 1, group);
  return {rounded_to(emission, value, type)};
}

}  // namespace metalloid::cpu::vector
