#include "cpu/vector/tables.hpp"

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Operator.h>
#include <llvm/IR/PatternMatch.h>

#include "cpu/vector/permute.hpp"

namespace metalloid::cpu::vector {

namespace {

// As the one index that lanes differ by, in elements of so many bytes, and an offset.
struct Address {
  const llvm::GlobalVariable* variable;
  llvm::Value* index;
  int64_t stride, offset;
};

std::optional<Address> address_in_constants(const llvm::Value* pointer, const llvm::DataLayout& layout) {
  const unsigned bits = layout.getIndexTypeSizeInBits(pointer->getType());
  llvm::SmallMapVector<llvm::Value*, llvm::APInt, 4> indices;
  llvm::APInt offset(bits, 0);
  while (const auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    if (!address->collectOffset(layout, bits, indices, offset)) return std::nullopt;
    pointer = address->getPointerOperand();
  }
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(pointer);
  if (!variable || !variable->isConstant() || !variable->hasDefinitiveInitializer() || indices.size() != 1)
    return std::nullopt;
  const auto& [index, stride] = indices.front();
  return Address{variable, index, stride.getSExtValue(), offset.getSExtValue()};
}

// Its low bits are all that counts.
llvm::Value* without_high_bits(llvm::Value* index, unsigned table_size) {
  using namespace llvm::PatternMatch;
  llvm::Value* shorter;
  const llvm::APInt* mask;
  for (;;) {
    if (match(index, m_ZExtOrSExt(m_Value(shorter))) && shorter->getType()->getIntegerBitWidth() >= 8)
      index = shorter;
    else if (match(index, m_And(m_Value(shorter), m_APInt(mask))) && mask->countr_one() >= llvm::Log2_32(table_size))
      index = shorter;
    else
      return index;
  }
}

}  // namespace

std::optional<TableLoad> table_load(const llvm::LoadInst& load, const llvm::DataLayout& layout) {
  llvm::Type* const type = load.getType();
  const unsigned bits = type->getScalarSizeInBits();
  if (type->isVectorTy() || type->isPointerTy() || (bits != 8 && bits != 16 && bits != 32)) return std::nullopt;
  const auto address = address_in_constants(load.getPointerOperand(), layout);
  if (!address || address->stride < bits / 8) return std::nullopt;

  const auto size = static_cast<int64_t>(layout.getTypeAllocSize(address->variable->getValueType()).getFixedValue());
  const int64_t count = llvm::divideCeil(size, address->stride),
                first = llvm::divideFloorSigned(address->offset, address->stride);
  const auto lookup = lookup_size(*load.getFunction(), count);
  if (!lookup) return std::nullopt;
  auto* const word = llvm::Type::getInt32Ty(load.getContext());
  auto* const number = llvm::IntegerType::get(load.getContext(), bits);
  llvm::SmallVector<llvm::Constant*, 32> numbers(*lookup, llvm::ConstantInt::get(word, 0));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t place = address->offset + (i - first) * address->stride;
    if (place + bits / 8 > size) continue;
    auto* bits_there = llvm::dyn_cast_or_null<llvm::ConstantInt>(llvm::ConstantFoldLoadFromConst(
        const_cast<llvm::Constant*>(address->variable->getInitializer()), number, llvm::APInt(64, place), layout));
    if (!bits_there) return std::nullopt;
    numbers[i] = llvm::ConstantInt::get(word, bits_there->getZExtValue());
  }
  return TableLoad{llvm::ConstantVector::get(numbers), without_high_bits(address->index, *lookup),
                   static_cast<uint64_t>(first)};
}

}  // namespace metalloid::cpu::vector
