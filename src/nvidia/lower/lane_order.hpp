// Which lane of a SIMD-group a lane of the hardware is.
//
// The two elements of a simdgroup matrix that a Metal lane holds (docs/builtins.md) are those that a lane of a tensor
// core's accumulator holds, but for the lanes' numbers: the row is bits 4, 2, 1 of Metal's lane and bits 4, 3, 2 of the
// hardware's, the pair of columns bits 3, 0 and 1, 0. So in modules that multiply matrices lanes are numbered by that
// permutation of bits, and matrices need no moving. Everything that a kernel sees is in Metal's order: the entry gives
// out logical lanes, and what moves values between lanes goes from logical to physical ones.
#pragma once

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Module.h>

namespace metalloid::nvidia::lower {

enum class LaneOrder { hardware, matrix };

// Decided when first asked, and kept in the module: code that multiplies may go later on.
inline LaneOrder lane_order(llvm::Module& module) {
  constexpr llvm::StringLiteral name = "metalloid.lane_order";
  constexpr llvm::StringLiteral product = "metal.simdgroup_multiply_accumulate.";
  llvm::NamedMDNode* decision = module.getNamedMetadata(name);
  if (!decision) {
    const bool multiplies = llvm::any_of(module, [&](const llvm::Function& function) {
      return function.getName().starts_with(product) && !function.use_empty();
    });
    decision = module.getOrInsertNamedMetadata(name);
    auto* text = llvm::MDString::get(module.getContext(), multiplies ? "matrix" : "hardware");
    decision->addOperand(llvm::MDNode::get(module.getContext(), text));
  }
  const auto* text = llvm::cast<llvm::MDString>(decision->getOperand(0)->getOperand(0));
  return text->getString() == "matrix" ? LaneOrder::matrix : LaneOrder::hardware;
}

// Lanes are i32, 0 … 31. A permutation of bits: it goes through exclusive or, too.
inline llvm::Value* logical_lane(llvm::IRBuilderBase& builder, LaneOrder order, llvm::Value* physical) {
  if (order == LaneOrder::hardware) return physical;
  llvm::Value* const same = builder.CreateAnd(physical, 17);
  llvm::Value* const down = builder.CreateLShr(builder.CreateAnd(physical, 12), 1);
  llvm::Value* const up = builder.CreateShl(builder.CreateAnd(physical, 2), 2);
  return builder.CreateOr(builder.CreateOr(same, down), up);
}

inline llvm::Value* physical_lane(llvm::IRBuilderBase& builder, LaneOrder order, llvm::Value* logical) {
  if (order == LaneOrder::hardware) return logical;
  llvm::Value* const same = builder.CreateAnd(logical, 17);
  llvm::Value* const up = builder.CreateShl(builder.CreateAnd(logical, 6), 1);
  llvm::Value* const down = builder.CreateLShr(builder.CreateAnd(logical, 8), 2);
  return builder.CreateOr(builder.CreateOr(same, up), down);
}

// A bit for each physical lane becomes a bit for each logical lane: bits 3 and 1 of their numbers change places, then
// bits 2 and 1.
inline llvm::Value* logical_lanes(llvm::IRBuilderBase& builder, LaneOrder order, llvm::Value* bits) {
  if (order == LaneOrder::hardware) return bits;
  const auto exchange = [&](unsigned distance, uint32_t lower) {
    llvm::Value* const differing =
        builder.CreateAnd(builder.CreateXor(builder.CreateLShr(bits, distance), bits), lower);
    bits = builder.CreateXor(bits, builder.CreateXor(differing, builder.CreateShl(differing, distance)));
  };
  exchange(6, 0x00CC00CC);
  exchange(2, 0x0C0C0C0C);
  return bits;
}

inline llvm::Value* hardware_lane(llvm::IRBuilderBase& builder) {
  return builder.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_laneid, {});
}

// Says of an i32 that it is the same in all lanes of a SIMD-group, as its index in the threadgroup is: control flow
// that depends on it keeps lanes together. lower_group_functions, the last to ask, takes it out again.
constexpr llvm::StringLiteral same_in_simdgroup_symbol = "metalloid.same_in_simdgroup";

inline llvm::Value* same_in_simdgroup(llvm::IRBuilderBase& builder, llvm::Value* value) {
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  auto* function = llvm::cast<llvm::Function>(
      module.getOrInsertFunction(same_in_simdgroup_symbol, builder.getInt32Ty(), builder.getInt32Ty()).getCallee());
  function->setDoesNotAccessMemory();
  function->setDoesNotThrow();
  function->setWillReturn();
  function->setSpeculatable();
  return builder.CreateCall(function, {value});
}

}  // namespace metalloid::nvidia::lower
