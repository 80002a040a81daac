#include "cpu/vector/interleave.hpp"

namespace metalloid::cpu::vector {

namespace {

llvm::Value* take(llvm::IRBuilder<>& builder, llvm::Value* a, llvm::Value* b, auto place) {
  const unsigned width = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
  llvm::SmallVector<int> places;
  for (unsigned i = 0; i < width; ++i) places.push_back(static_cast<int>(place(i, width)));
  return builder.CreateShuffleVector(a, b, places);
}

}  // namespace

Vectors deinterleave(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> in_memory) {
  if (in_memory.size() == 1) return Vectors(in_memory);
  Vectors even, odd;
  for (size_t i = 0; i < in_memory.size(); i += 2) {
    llvm::Value *a = in_memory[i], *b = in_memory[i + 1];
    even.push_back(take(builder, a, b, [](unsigned l, unsigned) { return 2 * l; }));
    odd.push_back(take(builder, a, b, [](unsigned l, unsigned) { return 2 * l + 1; }));
  }
  even = deinterleave(builder, even);
  odd = deinterleave(builder, odd);
  Vectors result;
  for (size_t i = 0; i < even.size(); ++i) result.append({even[i], odd[i]});
  return result;
}

Vectors interleave(llvm::IRBuilder<>& builder, llvm::ArrayRef<llvm::Value*> in_lanes) {
  if (in_lanes.size() == 1) return Vectors(in_lanes);
  Vectors even, odd;
  for (size_t i = 0; i < in_lanes.size(); i += 2) {
    even.push_back(in_lanes[i]);
    odd.push_back(in_lanes[i + 1]);
  }
  even = interleave(builder, even);
  odd = interleave(builder, odd);
  Vectors result;
  for (size_t i = 0; i < even.size(); ++i) {
    const auto half = [](unsigned first) {
      return [first](unsigned l, unsigned width) { return l / 2 + first * width / 2 + (l % 2) * width; };
    };
    result.push_back(take(builder, even[i], odd[i], half(0)));
    result.push_back(take(builder, even[i], odd[i], half(1)));
  }
  return result;
}

}  // namespace metalloid::cpu::vector
