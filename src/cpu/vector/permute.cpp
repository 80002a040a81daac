// A permutation of 32 lanes is two instructions with AVX-512 (VPERMI2D, or one VPERMW), sixteen permutations of eight
// lanes and a choice with AVX2, and elsewhere one store and a load for each lane.
#include "cpu/vector/permute.hpp"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <optional>

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

Value* permute_avx512(llvm::IRBuilder<>& builder, Value* value, Value* source) {
  Value* const low = piece(builder, value, 0, 16);
  Value* const high = piece(builder, value, 16, 16);
  llvm::SmallVector<Value*, 2> results;
  for (unsigned first : {0u, 16u})
    results.push_back(builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                              {low, piece(builder, source, first, 16), high}));
  return llvm::concatenateVectors(builder, results);
}

Value* permute_avx2(llvm::IRBuilder<>& builder, Value* value, Value* source) {
  llvm::SmallVector<Value*, 4> from_quarter;  // what each lane gets if its source is among lanes 8i … 8i + 7
  for (unsigned first = 0; first < 32; first += 8) {
    Value* const eight = piece(builder, value, first, 8);
    llvm::SmallVector<Value*, 4> results;
    for (unsigned lane = 0; lane < 32; lane += 8)
      results.push_back(
          builder.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {eight, piece(builder, source, lane, 8)}));
    from_quarter.push_back(llvm::concatenateVectors(builder, results));
  }
  // As a sign, a bit is what the instruction that chooses looks at.
  Value* const zero = llvm::Constant::getNullValue(source->getType());
  Value* const bit_3 = builder.CreateICmpSLT(builder.CreateShl(source, 28), zero);
  Value* const bit_4 = builder.CreateICmpSLT(builder.CreateShl(source, 27), zero);
  return builder.CreateSelect(bit_4, builder.CreateSelect(bit_3, from_quarter[3], from_quarter[2]),
                              builder.CreateSelect(bit_3, from_quarter[1], from_quarter[0]));
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
  Value* const wide = builder.CreateZExt(value, words);
  return builder.CreateTrunc(avx512 ? permute_avx512(builder, wide, source) : permute_avx2(builder, wide, source),
                             value->getType());
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
