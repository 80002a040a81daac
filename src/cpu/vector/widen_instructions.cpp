// Instructions that neither access memory nor call: the same operation on vectors, but where processors have none. Half
// is computed as float and rounded after every operation; integers of up to 32 bits are divided as doubles.
#include <llvm/ADT/APFloat.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "cpu/vector/atomics.hpp"
#include "cpu/vector/widener.hpp"

namespace metalloid::cpu::vector {

namespace {

// Where the scalars of an element stand among those of the whole.
unsigned place_of(llvm::Type* type, llvm::ArrayRef<unsigned> indices) {
  unsigned place = 0;
  for (unsigned index : indices) {
    if (auto* structure = llvm::dyn_cast<llvm::StructType>(type)) {
      for (unsigned i = 0; i < index; ++i) place += scalars_of(structure->getElementType(i)).size();
      type = structure->getElementType(index);
    } else {
      type = type->getArrayElementType();
      place += index * scalars_of(type).size();
    }
  }
  return place;
}

bool has_nontemporal_stores(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return llvm::isa<llvm::StoreInst>(instruction) && instruction.hasMetadata(llvm::LLVMContext::MD_nontemporal);
  });
}

// Whatever is divided by it.
bool never_traps(const llvm::Value* divisor) {
  const auto* constant = llvm::dyn_cast<llvm::Constant>(divisor);
  const auto* number = constant ? llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getSplatValue()) : nullptr;
  return number && !number->isZero() && !number->isMinusOne();
}

}  // namespace

void Widener::widen_instruction(llvm::Instruction& instruction) {
  if (explanation_) builder_.SetCurrentDebugLocation(instruction.getDebugLoc());
  if (instruction.isAtomic() && !llvm::isa<llvm::FenceInst>(instruction)) {
    llvm::SmallVector<Operand> operands;
    for (llvm::Value* value : instruction.operands()) operands.push_back(operand(value));
    const unsigned pointer = llvm::isa<llvm::StoreInst>(instruction) ? 1 : 0;
    if (!operands[pointer].uniform) note(instruction, Hindrance::atomic);
    Components result =
        emit_atomic(emission(), instruction, operands, places_in_array(instruction.getOperand(pointer)));
    if (instruction.getType()->isVoidTy()) return;
    if (shapes_.is_known(&instruction))
      define_scalar(instruction, result[0]);
    else
      define(instruction, std::move(result));
  } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    widen_load(*load);
  } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    widen_store(*store);
  } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
    widen_call(*call);
  } else if (llvm::isa<llvm::FenceInst>(instruction)) {
    auto* fence = llvm::cast<llvm::FenceInst>(instruction.clone());
    if (variant_.streams || has_nontemporal_stores(old_))
      fence->setOrdering(llvm::AtomicOrdering::SequentiallyConsistent);  // others let streams pass
    builder_.Insert(fence);
  } else if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    llvm::IRBuilder<> builder(entry_, entry_->begin());
    llvm::AllocaInst* place = builder.CreateAlloca(alloca->getAllocatedType(), alloca->getArraySize());
    place->setAlignment(std::max(alloca->getAlign(), llvm::Align(64)));
    define_scalar(instruction, place);
  } else if (shapes_.is_known(&instruction)) {
    clone_scalar(instruction);
  } else {
    define(instruction, widened(instruction));
  }
}

// Of pointers into one array by an index that was just extended.
std::optional<Places> Widener::places_in_array(llvm::Value* pointer) {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer);
  if (!address || address->getNumIndices() != 1 || shapes_.is_known(address)) return std::nullopt;
  auto* array = const_cast<llvm::Value*>(address->getPointerOperand());
  const auto* extension = llvm::dyn_cast<llvm::CastInst>(address->getOperand(1));
  if (!extension || !llvm::isa<llvm::ZExtInst, llvm::SExtInst>(extension) || !shapes_.is_uniform(array))
    return std::nullopt;
  const auto index = lanes_.find(extension->getOperand(0));
  if (index == lanes_.end() || index->second[0]->getType()->getScalarSizeInBits() % 8 != 0) return std::nullopt;
  return Places{scalar(array), index->second[0], llvm::isa<llvm::SExtInst>(extension),
                layout_.getTypeAllocSize(address->getSourceElementType()).getFixedValue()};
}

// For lane 0, which stands for all, or may be off: what the instruction's flags promise need not hold there.
void Widener::clone_scalar(llvm::Instruction& instruction) {
  llvm::Instruction* copy = instruction.clone();
  for (llvm::Use& use : copy->operands()) use.set(scalar(use.get()));
  if (mask_ || !shapes_.is_uniform(&instruction)) copy->dropPoisonGeneratingAnnotations();
  builder_.Insert(copy);
  define_scalar(instruction, copy);
}

Components Widener::widened(llvm::Instruction& instruction) {
  if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) return {widened_binary(*operation)};
  if (auto* bits = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) return widened_bits(*bits);
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    if (!cast->getType()->isVectorTy()) return {widened_cast(*cast)};
  }
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) return {widened_address(*address)};
  if (auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return widened_intrinsic(*intrinsic);
  if (instruction.getOpcode() == llvm::Instruction::FNeg) {
    llvm::Value* value = vector(instruction.getOperand(0));
    llvm::Value* result = builder_.CreateFNeg(value);
    if (auto* negation = llvm::dyn_cast<llvm::Instruction>(result)) negation->copyIRFlags(&instruction);
    return {result};
  }
  if (auto* comparison = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    llvm::Value *a = vector(comparison->getOperand(0)), *b = vector(comparison->getOperand(1));
    if (llvm::isa<llvm::FCmpInst>(comparison)) a = in_float(a), b = in_float(b);
    llvm::Value* result = builder_.CreateCmp(comparison->getPredicate(), a, b);
    if (auto* made = llvm::dyn_cast<llvm::FCmpInst>(result)) made->copyFastMathFlags(comparison);
    return {result};
  }
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    const Components yes = lanes(choice->getTrueValue()), no = lanes(choice->getFalseValue());
    Components result;
    if (choice->getCondition()->getType()->isVectorTy()) {
      const Components conditions = lanes(choice->getCondition());
      for (size_t i = 0; i < yes.size(); ++i) result.push_back(builder_.CreateSelect(conditions[i], yes[i], no[i]));
      return result;
    }
    llvm::Value* condition =
        shapes_.is_uniform(choice->getCondition()) ? scalar(choice->getCondition()) : vector(choice->getCondition());
    for (size_t i = 0; i < yes.size(); ++i) result.push_back(builder_.CreateSelect(condition, yes[i], no[i]));
    return result;
  }
  if (llvm::isa<llvm::FreezeInst>(instruction)) {
    Components result = lanes(instruction.getOperand(0));
    for (llvm::Value*& component : result) component = builder_.CreateFreeze(component);
    return result;
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    const Components whole = lanes(extract->getAggregateOperand());
    const unsigned first = place_of(extract->getAggregateOperand()->getType(), extract->getIndices());
    const size_t count = scalars_of(extract->getType()).size();
    return Components(whole.begin() + first, whole.begin() + first + count);
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    Components whole = lanes(insert->getAggregateOperand());
    const Components part = lanes(insert->getInsertedValueOperand());
    const unsigned first = place_of(insert->getType(), insert->getIndices());
    for (size_t i = 0; i < part.size(); ++i) whole[first + i] = part[i];
    return whole;
  }
  if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(&instruction)) {
    const Components whole = lanes(extract->getVectorOperand());
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(extract->getIndexOperand()))
      return {whole[std::min<uint64_t>(constant->getZExtValue(), whole.size() - 1)]};
    llvm::Value* index = vector(extract->getIndexOperand());
    llvm::Value* result = whole[0];
    for (unsigned i = 1; i < whole.size(); ++i)
      result = builder_.CreateSelect(builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i)),
                                     whole[i], result);
    return {result};
  }
  if (auto* insert = llvm::dyn_cast<llvm::InsertElementInst>(&instruction)) {
    Components whole = lanes(insert->getOperand(0));
    llvm::Value* part = vector(insert->getOperand(1));
    if (auto* constant = llvm::dyn_cast<llvm::ConstantInt>(insert->getOperand(2))) {
      if (constant->getZExtValue() < whole.size()) whole[constant->getZExtValue()] = part;
      return whole;
    }
    llvm::Value* index = vector(insert->getOperand(2));
    for (unsigned i = 0; i < whole.size(); ++i)
      whole[i] = builder_.CreateSelect(builder_.CreateICmpEQ(index, llvm::ConstantInt::get(index->getType(), i)), part,
                                       whole[i]);
    return whole;
  }
  if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    Components from = lanes(shuffle->getOperand(0));
    const Components second = lanes(shuffle->getOperand(1));
    from.append(second.begin(), second.end());
    Components result;
    for (int place : shuffle->getShuffleMask())
      result.push_back(place < 0 ? llvm::PoisonValue::get(from[0]->getType()) : from[static_cast<size_t>(place)]);
    return result;
  }
  give_up(instruction);
  return poison_of(instruction.getType());
}

Components Widener::poison_of(llvm::Type* type) const {
  Components poison;
  if (type->isVoidTy()) return poison;
  for (llvm::Type* scalar : scalars_of(type)) poison.push_back(llvm::PoisonValue::get(vector_of(scalar)));
  return poison;
}

// Processors have little arithmetic of half, and LLVM would call functions: it is done in float, which holds the exact
// result of one operation well enough that rounding twice is rounding once.
llvm::Value* Widener::in_float(llvm::Value* value) {
  return value->getType()->getScalarType()->isHalfTy() ? builder_.CreateFPExt(value, vector_of(builder_.getFloatTy()))
                                                       : value;
}

llvm::Value* Widener::from_float(llvm::Value* value, llvm::Type* scalar) {
  return value->getType()->getScalarType() == scalar ? value : builder_.CreateFPTrunc(value, vector_of(scalar));
}

llvm::Value* Widener::widened_binary(llvm::BinaryOperator& operation) {
  llvm::Value *a = vector(operation.getOperand(0)), *b = vector(operation.getOperand(1));
  if (operation.isIntDivRem()) {
    if (operation.getType()->getIntegerBitWidth() > 32 && !llvm::isa<llvm::Constant>(b))
      note(operation, Hindrance::division);
    return widened_division(operation.getOpcode(), a, b);
  }
  llvm::Value* result = builder_.CreateBinOp(operation.getOpcode(), in_float(a), in_float(b));
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(result)) made->copyIRFlags(&operation);
  return from_float(result, operation.getType());
}

// Processors divide integers one by one. Numbers of 32 bits and less are exact as double, and so is the quotient once
// it is cut off.
llvm::Value* Widener::widened_division(llvm::Instruction::BinaryOps operation, llvm::Value* a, llvm::Value* b) {
  llvm::Type* type = a->getType();
  if (mask_ && !never_traps(b))
    b = builder_.CreateSelect(mask_, builder_.CreateFreeze(b), llvm::ConstantInt::get(type, 1));
  if (type->getScalarSizeInBits() > 32 || llvm::isa<llvm::Constant>(b)) return builder_.CreateBinOp(operation, a, b);
  const bool is_signed = operation == llvm::Instruction::SDiv || operation == llvm::Instruction::SRem;
  llvm::Type* number = vector_of(builder_.getDoubleTy());
  const auto convert = [&](llvm::Value* value) {
    return is_signed ? builder_.CreateSIToFP(value, number) : builder_.CreateUIToFP(value, number);
  };
  a = builder_.CreateFreeze(a);
  llvm::Value* quotient = builder_.CreateFDiv(convert(a), convert(b));
  quotient = is_signed ? builder_.CreateFPToSI(quotient, type) : builder_.CreateFPToUI(quotient, type);
  if (operation == llvm::Instruction::SDiv || operation == llvm::Instruction::UDiv) return quotient;
  return builder_.CreateSub(a, builder_.CreateMul(quotient, b));
}

llvm::Value* Widener::widened_cast(llvm::CastInst& cast) {
  llvm::Value* value = vector(cast.getOperand(0));
  llvm::Type* to = cast.getType();
  switch (cast.getOpcode()) {
    case llvm::Instruction::FPToSI:
    case llvm::Instruction::FPToUI:
      return builder_.CreateCast(cast.getOpcode(), in_float(value), vector_of(to));
    case llvm::Instruction::SIToFP:
    case llvm::Instruction::UIToFP:
      if (to->isHalfTy())
        return from_float(builder_.CreateCast(cast.getOpcode(), value, vector_of(builder_.getFloatTy())), to);
      return builder_.CreateCast(cast.getOpcode(), value, vector_of(to));
    default: {
      llvm::Value* result = builder_.CreateCast(cast.getOpcode(), value, vector_of(to));
      if (auto* made = llvm::dyn_cast<llvm::Instruction>(result)) made->copyIRFlags(&cast);
      return result;
    }
  }
}

// The same bits as scalars of another size: the first is the lowest.
Components Widener::widened_bits(llvm::BitCastInst& cast) {
  const Components from = lanes(cast.getOperand(0));
  const auto types = scalars_of(cast.getType());
  const unsigned from_bits = from[0]->getType()->getScalarSizeInBits();
  const auto to_bits = static_cast<unsigned>(layout_.getTypeSizeInBits(types[0]).getFixedValue());
  Components result;
  const auto integer = [&](llvm::Value* value, unsigned bits) {
    return builder_.CreateBitCast(value, vector_of(builder_.getIntNTy(bits)));
  };
  for (size_t i = 0; i < types.size(); ++i) {
    llvm::Type* type = vector_of(types[i]);
    if (from_bits == to_bits || types[i]->isPointerTy()) {
      result.push_back(builder_.CreateBitCast(from[i], type));
    } else if (from_bits < to_bits) {
      llvm::Type* number = vector_of(builder_.getIntNTy(to_bits));
      const unsigned parts = to_bits / from_bits;
      llvm::Value* whole = llvm::Constant::getNullValue(number);
      for (unsigned part = 0; part < parts; ++part)
        whole = builder_.CreateOr(
            whole, builder_.CreateShl(builder_.CreateZExt(integer(from[i * parts + part], from_bits), number),
                                      llvm::ConstantInt::get(number, part * from_bits)));
      result.push_back(builder_.CreateBitCast(whole, type));
    } else {
      const size_t parts = from_bits / to_bits;
      llvm::Value* whole = integer(from[i / parts], from_bits);
      llvm::Value* part = builder_.CreateLShr(whole, llvm::ConstantInt::get(whole->getType(), i % parts * to_bits));
      result.push_back(
          builder_.CreateBitCast(builder_.CreateTrunc(part, vector_of(builder_.getIntNTy(to_bits))), type));
    }
  }
  return result;
}

llvm::Value* Widener::widened_address(llvm::GetElementPtrInst& address) {
  llvm::SmallVector<llvm::Value*> indices;
  for (llvm::Value* index : address.indices())
    indices.push_back(shapes_.is_uniform(index) ? scalar(index) : vector(index));
  llvm::Value* base = address.getPointerOperand();
  llvm::Value* result = builder_.CreateGEP(address.getSourceElementType(),
                                           shapes_.is_uniform(base) ? scalar(base) : vector(base), indices);
  return result->getType()->isVectorTy() ? result : splat(result);
}

Components Widener::widened_intrinsic(llvm::IntrinsicInst& intrinsic) {
  const llvm::Intrinsic::ID id = intrinsic.getIntrinsicID();
  if (llvm::isa<llvm::WithOverflowInst>(intrinsic)) {
    llvm::Value* both =
        builder_.CreateBinaryIntrinsic(id, vector(intrinsic.getArgOperand(0)), vector(intrinsic.getArgOperand(1)));
    return {builder_.CreateExtractValue(both, 0), builder_.CreateExtractValue(both, 1)};
  }
  bool can_be_widened = llvm::isTriviallyVectorizable(id) && llvm::VectorType::isValidElementType(intrinsic.getType());
  for (unsigned i = 0; i < intrinsic.arg_size(); ++i)
    can_be_widened &=
        !llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr) || shapes_.is_uniform(intrinsic.getArgOperand(i));
  if (!can_be_widened) {
    give_up(intrinsic);
    return poison_of(intrinsic.getType());
  }
  if (id == llvm::Intrinsic::fma && intrinsic.getType()->isHalfTy()) return {widened_half_fma(intrinsic)};
  const bool through_float =
      intrinsic.getType()->isHalfTy() && id != llvm::Intrinsic::fabs && id != llvm::Intrinsic::copysign;
  llvm::SmallVector<llvm::Value*> arguments;
  llvm::SmallVector<llvm::Type*> types;
  llvm::Type* result_type = vector_of(through_float ? builder_.getFloatTy() : intrinsic.getType());
  if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1, nullptr)) types.push_back(result_type);
  for (unsigned i = 0; i < intrinsic.arg_size(); ++i) {
    llvm::Value* argument = intrinsic.getArgOperand(i);
    const bool stays_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i, nullptr);
    llvm::Value* value = stays_scalar ? scalar(argument) : vector(argument);
    if (through_float && !stays_scalar) value = in_float(value);
    if (llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i), nullptr))
      types.push_back(value->getType());
    arguments.push_back(value);
  }
  llvm::CallInst* call = builder_.CreateIntrinsic(id, types, arguments);
  if (llvm::isa<llvm::FPMathOperator>(call) && llvm::isa<llvm::FPMathOperator>(intrinsic))
    call->copyFastMathFlags(&intrinsic);
  return {from_float(call, intrinsic.getType())};
}

// A sum of three halves' worth of digits: double holds it, float does not, and rounding twice would not be rounding
// once. So the float in between is rounded to odd: what is cut off leaves its last digit 1, and no tie is mistaken for
// one.
llvm::Value* Widener::widened_half_fma(llvm::IntrinsicInst& fma) {
  llvm::Type *number = vector_of(builder_.getDoubleTy()), *bits = vector_of(builder_.getInt32Ty());
  const auto argument = [&](unsigned i) { return builder_.CreateFPExt(vector(fma.getArgOperand(i)), number); };
  llvm::Value *a = argument(0), *b = argument(1), *c = argument(2);
  llvm::Value* exact = builder_.CreateIntrinsic(llvm::Intrinsic::fma, {number}, {a, b, c});
  llvm::Value* rounded = builder_.CreateFPTrunc(exact, vector_of(builder_.getFloatTy()));
  llvm::Value* back = builder_.CreateFPExt(rounded, number);
  const auto size = [&](llvm::Value* of) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, of); };
  llvm::Value* is_above = builder_.CreateFCmpOGT(size(back), size(exact));
  llvm::Value* is_cut = builder_.CreateFCmpONE(back, exact);
  llvm::Value* odd = builder_.CreateSub(builder_.CreateBitCast(rounded, bits), builder_.CreateZExt(is_above, bits));
  odd = builder_.CreateOr(odd, builder_.CreateZExt(is_cut, bits));
  return from_float(builder_.CreateBitCast(odd, rounded->getType()), fma.getType());
}

}  // namespace metalloid::cpu::vector
