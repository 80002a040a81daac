#include "nvidia/lower/matrices_operands.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include "nvidia/lower/lane_order.hpp"

namespace metalloid::nvidia::lower {

namespace {

using llvm::Value;

// bfloat has its own type, or is the 16 bits of it.
bool is_bfloat(const llvm::Type* type) {
  return type->isBFloatTy() || type->isIntegerTy(16);
}

// What an element of a vector was inserted as or, failing that, is to be extracted as.
struct Element {
  Value* vector;
  Value* scalar;
};

Element element_of(Value* vector, unsigned place) {
  for (Value* value = vector;;) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(value))
      if (llvm::Constant* element = constant->getAggregateElement(place)) return {nullptr, element};
    auto* insertion = llvm::dyn_cast<llvm::InsertElementInst>(value);
    if (!insertion) return {value, nullptr};
    const auto* index = llvm::dyn_cast<llvm::ConstantInt>(insertion->getOperand(2));
    if (!index) return {value, nullptr};
    if (index->getZExtValue() == place) return {nullptr, insertion->getOperand(1)};
    value = insertion->getOperand(0);
  }
}

llvm::Constant* narrow_constant(const llvm::ConstantFP& constant, llvm::Type* type) {
  llvm::APFloat number = constant.getValueAPF();
  bool loses = false;
  number.convert(type->getFltSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return loses || number.isNaN() ? nullptr : llvm::ConstantFP::get(type, number);
}

// The narrower number that a float was made of, if it is of that type; constants are converted.
Value* narrow(Value* number, llvm::Type* type) {
  if (const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(number)) return narrow_constant(*constant, type);
  auto* extension = llvm::dyn_cast<llvm::FPExtInst>(number);
  return extension && extension->getSrcTy() == type ? extension->getOperand(0) : nullptr;
}

// The elements of a float matrix as narrower ones, without a conversion; empty if they are not.
llvm::SmallVector<Value*, 2> narrow_elements(llvm::IRBuilderBase& builder, Value* matrix, llvm::Type* type,
                                             bool only_ask) {
  llvm::SmallVector<Value*, 2> elements;
  for (unsigned place = 0; place < 2; ++place) {
    const Element element = element_of(matrix, place);
    Value* found = nullptr;
    if (element.scalar) {
      found = narrow(element.scalar, type);
      // An element taken from a vector that was made wider as a whole.
      if (auto* extract = llvm::dyn_cast<llvm::ExtractElementInst>(element.scalar))
        if (auto* whole = llvm::dyn_cast<llvm::FPExtInst>(extract->getVectorOperand()))
          if (whole->getSrcTy()->getScalarType() == type)
            found = only_ask ? whole->getOperand(0)
                             : builder.CreateExtractElement(whole->getOperand(0), extract->getIndexOperand());
    } else if (auto* whole = llvm::dyn_cast<llvm::FPExtInst>(element.vector)) {
      if (whole->getSrcTy()->getScalarType() == type)
        found = only_ask ? whole->getOperand(0) : builder.CreateExtractElement(whole->getOperand(0), place);
    }
    if (!found) return {};
    elements.push_back(found);
  }
  return elements;
}

// Two matrices of 8×8 elements of 16 bits change rows and columns.
Value* transposed_halves(llvm::IRBuilderBase& builder, Value* word) {
  auto* type = llvm::FunctionType::get(builder.getInt32Ty(), {builder.getInt32Ty()}, false);
  llvm::CallInst* call = builder.CreateCall(
      llvm::InlineAsm::get(type, "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;", "=r,r", /*hasSideEffects=*/false),
      {word});
  call->setConvergent();
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return call;
}

// A float as the sum of two TF32 numbers, of which the tensor cores read the upper 19 bits: the nearest one of 11
// significant bits, and the rest, whose 12 bits lose at most the last. An infinity is the rest of the largest number,
// so that the products of main parts with rests, which may be 0, are numbers; NaN is the rest of some number.
std::pair<Value*, Value*> split(llvm::IRBuilderBase& builder, Value* number) {
  llvm::Type *const type = number->getType(), *const bits = builder.getInt32Ty();
  Value* const largest = llvm::ConstantFP::get(type, 0x1.FFCp127);
  Value* const least = llvm::ConstantFP::get(type, -0x1.FFCp127);
  Value* const finite = builder.CreateMinNum(builder.CreateMaxNum(number, least), largest);
  Value* const half_more = builder.CreateAdd(builder.CreateBitCast(finite, bits), builder.getInt32(0x1000));
  Value* const main = builder.CreateAnd(half_more, builder.getInt32(0xFFFFE000));
  Value* const rest = builder.CreateFSub(number, builder.CreateBitCast(main, type));
  return {main, builder.CreateBitCast(rest, bits)};
}

}  // namespace

Precision precision_of(Value* matrix) {
  llvm::Type* const type = matrix->getType()->getScalarType();
  if (type->isHalfTy()) return Precision::half;
  if (is_bfloat(type)) return Precision::bfloat;
  llvm::LLVMContext& context = matrix->getContext();
  llvm::IRBuilder<> none(context);
  if (!narrow_elements(none, matrix, llvm::Type::getHalfTy(context), /*only_ask=*/true).empty()) return Precision::half;
  if (!narrow_elements(none, matrix, llvm::Type::getBFloatTy(context), /*only_ask=*/true).empty())
    return Precision::bfloat;
  return Precision::single;
}

llvm::Instruction* Operands::behind(Value* value, llvm::BasicBlock& block) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (!instruction || instruction->getParent() != &block || llvm::isa<llvm::PHINode>(instruction))
    return &*block.getFirstNonPHIOrDbgOrAlloca();
  return instruction->getNextNode();
}

Registers Operands::get(Value* matrix, Precision form, bool transposed) {
  const Key key{matrix, 2 * static_cast<int>(form) + transposed};
  if (auto found = made_.find(key); found != made_.end()) return found->second;
  builder_.SetInsertPoint(behind(matrix, block_));
  Registers registers;
  if (form == Precision::half || form == Precision::bfloat) {
    Value* const word = packed(matrix, form);
    registers.main[0] = transposed ? transposed_halves(builder_, word) : word;
  } else {
    std::array<Value*, 2> words = float_elements(builder_, matrix);
    for (Value*& word : words) word = builder_.CreateBitCast(word, builder_.getInt32Ty());
    if (transposed) words = transposed_words(words);
    for (unsigned i = 0; i < 2; ++i) {
      registers.main[i] = words[i];
      if (form != Precision::single) continue;
      std::tie(registers.main[i], registers.rest[i]) =
          split(builder_, builder_.CreateBitCast(words[i], builder_.getFloatTy()));
    }
  }
  return made_[key] = registers;
}

// Two elements of 16 bits in one word.
Value* Operands::packed(Value* matrix, Precision form) {
  if (matrix->getType()->getScalarType()->isFloatTy()) {
    llvm::Type* const type = form == Precision::half ? builder_.getHalfTy() : builder_.getBFloatTy();
    const auto elements = narrow_elements(builder_, matrix, type, /*only_ask=*/false);
    matrix = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, 2));
    for (unsigned i = 0; i < 2; ++i) matrix = builder_.CreateInsertElement(matrix, elements[i], uint64_t{i});
  }
  return builder_.CreateBitCast(matrix, builder_.getInt32Ty());
}

// Lane g * 4 + t wants elements (2t, g) and (2t + 1, g), which lanes 8t + g / 2 and 8t + 4 + g / 2 have, as their first
// if g is even. Lanes with even g take from the first of these, while those with odd g take from the second; then the
// other way round. So a lane gives the same element to all who ask it.
std::array<Value*, 2> Operands::transposed_words(std::array<Value*, 2> words) {
  Value* const lane = hardware_lane(builder_);
  Value* const parity = builder_.CreateAnd(lane, 4);
  Value* const is_odd = builder_.CreateIsNotNull(parity);
  Value* const half_of_g = builder_.CreateLShr(lane, 3);
  Value* const own =
      builder_.CreateOr(builder_.CreateOr(builder_.CreateShl(builder_.CreateAnd(lane, 3), 3), parity), half_of_g);
  const auto take = [&](Value* word, Value* from) {
    return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_idx_i32, {},
                                    {builder_.getInt32(~0u), word, from, builder_.getInt32(31)});
  };
  Value* const straight = take(builder_.CreateSelect(is_odd, words[1], words[0]), own);
  Value* const crossed = take(builder_.CreateSelect(is_odd, words[0], words[1]), builder_.CreateXor(own, 4));
  return {builder_.CreateSelect(is_odd, crossed, straight), builder_.CreateSelect(is_odd, straight, crossed)};
}

std::array<Value*, 2> float_elements(llvm::IRBuilderBase& builder, Value* matrix) {
  std::array<Value*, 2> elements;
  for (unsigned i = 0; i < 2; ++i) {
    const Element found = element_of(matrix, i);
    Value* element = found.scalar ? found.scalar : builder.CreateExtractElement(found.vector, i);
    if (is_bfloat(element->getType())) {
      Value* const bits =
          builder.CreateZExt(builder.CreateBitCast(element, builder.getInt16Ty()), builder.getInt32Ty());
      element = builder.CreateBitCast(builder.CreateShl(bits, 16), builder.getFloatTy());
    }
    elements[i] = builder.CreateFPCast(element, builder.getFloatTy());
  }
  return elements;
}

Value* matrix_of(llvm::IRBuilderBase& builder, std::array<Value*, 2> elements, llvm::Type* type) {
  llvm::Type* const scalar = type->getScalarType();
  Value* matrix = llvm::PoisonValue::get(type);
  for (unsigned i = 0; i < 2; ++i) {
    Value* element = elements[i];
    if (scalar->isIntegerTy())
      element = builder.CreateBitCast(builder.CreateFPTrunc(element, builder.getBFloatTy()), scalar);
    else
      element = builder.CreateFPCast(element, scalar);
    matrix = builder.CreateInsertElement(matrix, element, uint64_t{i});
  }
  return matrix;
}

}  // namespace metalloid::nvidia::lower
