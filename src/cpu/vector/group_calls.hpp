// The parts of groups.cpp: one function for each kind of group function. All give what emit_group_call gives.
#pragma once

#include <llvm/IR/Function.h>

#include <optional>

#include "cpu/vector/emission.hpp"

namespace metalloid::cpu::vector {

// The symbol of metal.simd_* and metal.quad_*, taken apart.
struct GroupFunction {
  bool is_quad = false;
  llvm::StringRef operation;  // "sum", "shuffle_xor"
  llvm::StringRef type;       // "f32"; votes have none

  bool is_floating_point() const { return type.starts_with("f"); }
  bool is_signed() const { return type.starts_with("i"); }
};
std::optional<GroupFunction> parse_group_function(llvm::StringRef name);

Components emit_reduction(const Emission& emission, const GroupFunction& function, llvm::Value* value);
Components emit_prefix(const Emission& emission, const GroupFunction& function, llvm::Value* value);
Components emit_move(const Emission& emission, const GroupFunction& function, llvm::ArrayRef<Operand> operands);
Components emit_vote(const Emission& emission, const GroupFunction& function, llvm::ArrayRef<Operand> operands);
Components emit_matrix_function(const Emission& emission, const llvm::Function& function,
                                llvm::ArrayRef<Operand> operands);

// In inactive lanes `other` in place of the value.
inline llvm::Value* of_active_lanes(const Emission& emission, llvm::Value* value, llvm::Value* other) {
  return emission.active ? emission.builder.CreateSelect(emission.active, value, other) : value;
}

// In each lane the element of the vector that its place names. Of vectors that were put together from others, those.
llvm::Value* shuffled(llvm::IRBuilder<>& builder, llvm::Value* vector, llvm::SmallVector<int, 32> places);

// In each lane the value of the lane that source(lane) names.
template <class Source>
llvm::Value* rearranged(const Emission& emission, llvm::Value* value, Source source) {
  llvm::SmallVector<int, 32> sources;
  for (unsigned lane = 0; lane < emission.width; ++lane) sources.push_back(static_cast<int>(source(lane)));
  return shuffled(emission.builder, value, std::move(sources));
}

// In each lane the value of its quad's lane `place`.
inline llvm::Value* broadcast_in_quads(const Emission& emission, llvm::Value* value, unsigned place) {
  return rearranged(emission, value, [&](unsigned lane) { return lane / 4 * 4 + place; });
}

}  // namespace metalloid::cpu::vector
