#include "cpu/vector/groups.hpp"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSwitch.h>

#include "cpu/vector/group_calls.hpp"

namespace metalloid::cpu::vector {

namespace {

enum class Kind { reduction, prefix, move, vote, unknown };

Kind kind_of(llvm::StringRef operation) {
  return llvm::StringSwitch<Kind>(operation)
      .Cases({"sum", "product", "min", "max", "and", "or", "xor"}, Kind::reduction)
      .StartsWith("prefix_", Kind::prefix)
      .StartsWith("broadcast", Kind::move)
      .StartsWith("shuffle", Kind::move)
      .Cases({"ballot", "all", "any", "active_threads_mask", "is_first"}, Kind::vote)
      .Default(Kind::unknown);
}

}  // namespace

std::optional<GroupFunction> parse_group_function(llvm::StringRef name) {
  GroupFunction function;
  function.is_quad = name.consume_front("metal.quad_");
  if (!function.is_quad && !name.consume_front("metal.simd_")) return std::nullopt;
  std::tie(function.operation, function.type) = name.split('.');
  if (kind_of(function.operation) == Kind::unknown) return std::nullopt;
  return function;
}

bool is_matrix_product(llvm::StringRef name) {
  return name.starts_with("metal.simdgroup_multiply_accumulate.");
}

bool is_matrix_function(llvm::StringRef name) {
  return name.starts_with("metal.simdgroup_load.") || name.starts_with("metal.simdgroup_store.") ||
         is_matrix_product(name);
}

bool is_group_function(llvm::StringRef name) {
  return is_matrix_function(name) || parse_group_function(name);
}

bool works_in_quads(llvm::StringRef name) {
  const auto function = parse_group_function(name);
  return function && function->is_quad;
}

bool gives_uniform(llvm::StringRef name, llvm::ArrayRef<bool> operand_is_uniform) {
  const auto function = parse_group_function(name);
  if (!function || function->is_quad) return false;
  if (function->operation == "broadcast" || function->operation == "shuffle") return operand_is_uniform[1];
  switch (kind_of(function->operation)) {
    case Kind::reduction:
      return true;
    case Kind::vote:
      return function->operation != "is_first";
    default:
      return function->operation == "broadcast_first";
  }
}

llvm::Value* shuffled(llvm::IRBuilder<>& builder, llvm::Value* vector, llvm::SmallVector<int, 32> places) {
  llvm::Value* origin = nullptr;
  llvm::SmallVector<int, 32> places_there;
  for (int place : places) {
    llvm::Value* from = vector;
    while (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(from)) {
      place = shuffle->getMaskValue(static_cast<unsigned>(place));
      if (place < 0) break;
      const auto length =
          static_cast<int>(llvm::cast<llvm::FixedVectorType>(shuffle->getOperand(0)->getType())->getNumElements());
      from = shuffle->getOperand(place < length ? 0 : 1);
      place %= length;
    }
    if (place < 0 || (origin && origin != from)) return builder.CreateShuffleVector(vector, places);
    origin = from;
    places_there.push_back(place);
  }
  return builder.CreateShuffleVector(origin, places_there);
}

Components emit_group_call(Emission emission, const llvm::Function& function, llvm::ArrayRef<Operand> operands) {
  // A NaN or an infinity means something here, whatever the kernel promises about its own numbers.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(emission.builder);
  emission.builder.clearFastMathFlags();
  const auto parsed = parse_group_function(function.getName());
  if (!parsed) return emit_matrix_function(emission, function, operands);
  switch (kind_of(parsed->operation)) {
    case Kind::reduction:
      return emit_reduction(emission, *parsed, operands[0].lanes[0]);
    case Kind::prefix:
      return emit_prefix(emission, *parsed, operands[0].lanes[0]);
    case Kind::move:
      return emit_move(emission, *parsed, operands);
    default:
      return emit_vote(emission, *parsed, operands);
  }
}

}  // namespace metalloid::cpu::vector
