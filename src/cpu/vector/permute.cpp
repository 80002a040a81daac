// A permutation of 32 lanes is two instructions with AVX-512 (VPERMI2D, or one VPERMW), sixteen permutations of eight
// lanes and a choice with AVX2, and elsewhere one store and a load for each lane.
#include "cpu/vector/permute.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <numeric>

#include "cpu/vector/group_calls.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

// The elements of a constant vector of integers; -1 for those that may be anything.
std::optional<llvm::SmallVector<int, 32>> constant_elements(Value* vector, unsigned width) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(vector);
  if (!constant) return std::nullopt;
  llvm::SmallVector<int, 32> elements;
  for (unsigned lane = 0; lane < width; ++lane) {
    llvm::Constant* element = constant->getAggregateElement(lane);
    if (!element) return std::nullopt;
    if (auto* number = llvm::dyn_cast<llvm::ConstantInt>(element))
      elements.push_back(static_cast<int>(number->getValue().getLimitedValue(INT32_MAX)));
    else if (llvm::isa<llvm::UndefValue>(element))
      elements.push_back(-1);
    else
      return std::nullopt;
  }
  return elements;
}

Value* piece(llvm::IRBuilder<>& builder, Value* vector, unsigned first, unsigned size) {
  return builder.CreateExtractVector(llvm::FixedVectorType::get(vector->getType()->getScalarType(), size), vector,
                                     uint64_t{first});
}

// 16 numbers at a time.
Value* look_up_avx512(llvm::IRBuilder<>& builder, Value* table, unsigned size, Value* indices) {
  if (size <= 16)
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_si_512, {},
                                   {piece(builder, table, 0, 16), indices});
  return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                 {piece(builder, table, 0, 16), indices, piece(builder, table, 16, 16)});
}

// 8 numbers at a time.
Value* look_up_avx2(llvm::IRBuilder<>& builder, Value* table, unsigned size, Value* indices) {
  llvm::SmallVector<Value*, 4> found;  // if the index is that of one of eight
  for (unsigned first = 0; first < size; first += 8)
    found.push_back(
        builder.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {piece(builder, table, first, 8), indices}));
  // As a sign, a bit is what the instruction that chooses looks at.
  Value* const zero = llvm::Constant::getNullValue(indices->getType());
  for (unsigned bit = 28; found.size() > 1; --bit) {
    Value* const is_in_second = builder.CreateICmpSLT(builder.CreateShl(indices, bit), zero);
    for (size_t i = 0; i < found.size() / 2; ++i)
      found[i] = builder.CreateSelect(is_in_second, found[2 * i + 1], found[2 * i]);
    found.resize(found.size() / 2);
  }
  return found[0];
}

Value* permute_in_memory(const Emission& emission, Value* value, Value* source) {
  llvm::IRBuilder<>& builder = emission.builder;
  llvm::Type* const type = value->getType()->getScalarType();
  llvm::BasicBlock& entry = builder.GetInsertBlock()->getParent()->getEntryBlock();
  llvm::AllocaInst* const memory =
      llvm::IRBuilder<>(&entry, entry.begin()).CreateAlloca(value->getType(), nullptr, "lanes");
  builder.CreateLifetimeStart(memory);
  builder.CreateStore(value, memory);
  Value* const places = builder.CreateGEP(type, memory, builder.CreateAnd(source, emission.width - 1));
  Value* const result =
      builder.CreateMaskedGather(value->getType(), places, llvm::Align(type->getScalarSizeInBits() / 8));
  builder.CreateLifetimeEnd(memory);
  return result;
}

}  // namespace

Value* permute(const Emission& emission, Value* value, Value* source) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (auto sources = constant_elements(source, emission.width)) {
    for (int& lane : *sources)
      if (lane >= static_cast<int>(emission.width)) lane = -1;
    return builder.CreateShuffleVector(value, *sources);
  }
  const llvm::Function& function = *builder.GetInsertBlock()->getParent();
  const bool avx512 = has_feature(function, "avx512f"), avx2 = has_feature(function, "avx2");
  if (emission.width != 32 || (!avx512 && !avx2)) return permute_in_memory(emission, value, source);

  const unsigned bits = value->getType()->getScalarSizeInBits();
  llvm::Type* const words = emission.vector_of(builder.getInt32Ty());
  if (bits == 64) {
    Value* const low = permute(emission, builder.CreateTrunc(value, words), source);
    Value* const high = permute(emission, builder.CreateTrunc(builder.CreateLShr(value, 32), words), source);
    return builder.CreateOr(builder.CreateZExt(low, value->getType()),
                            builder.CreateShl(builder.CreateZExt(high, value->getType()), 32));
  }
  if (bits == 16 && has_feature(function, "avx512bw"))
    return builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_permvar_hi_512, {},
                                   {value, builder.CreateTrunc(source, value->getType())});
  return builder.CreateTrunc(look_up(emission, builder.CreateZExt(value, words), source), value->getType());
}

std::optional<unsigned> lookup_size(const llvm::Function& function, uint64_t count) {
  const unsigned most = has_feature(function, "avx512f") ? 32 : has_feature(function, "avx2") ? 16 : 0;
  if (count > most) return std::nullopt;
  return static_cast<unsigned>(std::max<uint64_t>(llvm::PowerOf2Ceil(count), most == 32 ? 16 : 8));
}

Value* look_up(const Emission& emission, Value* table, Value* indices) {
  llvm::IRBuilder<>& builder = emission.builder;
  const unsigned size = llvm::cast<llvm::FixedVectorType>(table->getType())->getNumElements();
  const bool avx512 = has_feature(*builder.GetInsertBlock()->getParent(), "avx512f");
  const unsigned at_once = avx512 ? 16 : 8;
  llvm::SmallVector<Value*, 4> results;
  if (emission.width < at_once) {
    llvm::SmallVector<int, 16> lanes(at_once, -1);
    std::iota(lanes.begin(), lanes.begin() + emission.width, 0);
    indices = builder.CreateShuffleVector(indices, lanes);
  }
  for (unsigned first = 0; first < emission.width; first += at_once) {
    Value* const some = piece(builder, indices, first, at_once);
    results.push_back(avx512 ? look_up_avx512(builder, table, size, some) : look_up_avx2(builder, table, size, some));
  }
  return piece(builder, llvm::concatenateVectors(builder, results), 0, emission.width);
}

Value* permute_in_quads(const Emission& emission, Value* value, Value* source) {
  llvm::IRBuilder<>& builder = emission.builder;
  if (const auto sources = constant_elements(source, emission.width))
    return rearranged(emission, value, [&](unsigned lane) {
      const int place = (*sources)[lane];
      return place < 0 || place > 3 ? -1 : static_cast<int>(lane / 4 * 4) + place;
    });
  Value* result = broadcast_in_quads(emission, value, 3);
  for (unsigned place : {2u, 1u, 0u})
    result = builder.CreateSelect(builder.CreateICmpEQ(source, emission.splat(builder.getInt32(place))),
                                  broadcast_in_quads(emission, value, place), result);
  return result;
}

}  // namespace metalloid::cpu::vector
