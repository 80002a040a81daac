// A scalar bfloat becomes the i16 of its bits; bitcasts stand where something (a call, a vector, a return) needs it as
// a bfloat, and go away between two instructions that do not. A bfloat is the upper half of a float, so every operation
// is that of float and one rounding, to nearest even. Vectors of bfloat, the operands of matrix builtins, stay what
// they are; arithmetic on them takes the same way.
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

#include "cpu/vector/bfloat_conversions.hpp"
#include "cpu/vector/passes.hpp"

namespace metalloid::cpu::vector {

namespace {

bool is_bfloat(const llvm::Type* type) {
  return type->getScalarType()->isBFloatTy();
}

class Lowering {
 public:
  explicit Lowering(llvm::Function& function) : function_(function), builder_(function.getContext()) {}

  bool run() {
    std::vector<llvm::Instruction*> instructions;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
      for (llvm::Instruction& instruction : *block)
        if (touches_bfloat(instruction)) instructions.push_back(&instruction);

    for (llvm::Instruction* instruction : instructions) {
      builder_.SetInsertPoint(instruction);
      if (llvm::Value* lowered = lower(*instruction)) replace(*instruction, lowered);
    }
    complete_phis();
    llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(casts_);
    return !instructions.empty();
  }

 private:
  static bool touches_bfloat(const llvm::Instruction& instruction) {
    return is_bfloat(instruction.getType()) ||
           llvm::any_of(instruction.operands(), [](const llvm::Use& use) { return is_bfloat(use->getType()); });
  }

  llvm::Type* bits_type(llvm::Type* shape) { return shape->getWithNewType(builder_.getInt16Ty()); }
  llvm::Type* float_type(llvm::Type* shape) { return shape->getWithNewType(builder_.getFloatTy()); }

  llvm::Value* bits(llvm::Value* value) {
    llvm::Type* type = bits_type(value->getType());
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(value); cast && cast->getSrcTy() == type)
      return cast->getOperand(0);
    return keep(builder_.CreateBitCast(value, type));
  }

  llvm::Value* from_bits(llvm::Value* bits) {
    return keep(builder_.CreateBitCast(bits, bits->getType()->getWithNewType(builder_.getBFloatTy())));
  }

  llvm::Value* keep(llvm::Value* cast) {
    casts_.emplace_back(cast);
    return cast;
  }

  llvm::Value* extend(llvm::Value* value) { return bfloat_to_float(builder_, bits(value)); }

  // A NaN stays one where the instruction says there is none, too.
  llvm::Value* round(llvm::Value* value) {
    llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    builder_.clearFastMathFlags();
    return float_to_bfloat(builder_, value, bits_type(value->getType()));
  }

  // The bits of what the instruction gives if that is a bfloat, its value otherwise; null if it stays.
  llvm::Value* lower(llvm::Instruction& instruction) {
    if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) return lower_store(*store);
    if (!instruction.getType()->isVectorTy()) {
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return lower_load(*load);
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) return lower_phi(*phi);
      if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction))
        return builder_.CreateSelect(select->getCondition(), bits(select->getTrueValue()),
                                     bits(select->getFalseValue()), "", select);
      if (auto* freeze = llvm::dyn_cast<llvm::FreezeInst>(&instruction))
        return builder_.CreateFreeze(bits(freeze->getOperand(0)));
      if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) return lower_bitcast(*cast);
    }

    llvm::IRBuilder<>::FastMathFlagGuard guard(builder_);
    if (llvm::isa<llvm::FPMathOperator>(instruction)) builder_.setFastMathFlags(instruction.getFastMathFlags());
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return lower_conversion(*cast);
    if (auto* compare = llvm::dyn_cast<llvm::FCmpInst>(&instruction))
      return builder_.CreateFCmp(compare->getPredicate(), extend(compare->getOperand(0)),
                                 extend(compare->getOperand(1)));
    if (auto* negation = llvm::dyn_cast<llvm::UnaryOperator>(&instruction))
      return builder_.CreateXor(bits(negation->getOperand(0)), mask(instruction, 0x8000));
    if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction))
      return round(builder_.CreateBinOp(operation->getOpcode(), extend(operation->getOperand(0)),
                                        extend(operation->getOperand(1))));
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return lower_intrinsic(*call);
    return nullptr;
  }

  llvm::Constant* mask(const llvm::Instruction& instruction, uint64_t mask) {
    return llvm::ConstantInt::get(bits_type(instruction.getType()), mask);
  }

  llvm::Value* lower_load(llvm::LoadInst& load) {
    if (!is_bfloat(load.getType())) return nullptr;
    llvm::LoadInst* bits =
        builder_.CreateAlignedLoad(builder_.getInt16Ty(), load.getPointerOperand(), load.getAlign(), load.isVolatile());
    bits->setAtomic(load.getOrdering(), load.getSyncScopeID());
    bits->setAAMetadata(load.getAAMetadata());
    return bits;
  }

  llvm::Value* lower_store(llvm::StoreInst& store) {
    if (!store.getValueOperand()->getType()->isBFloatTy()) return nullptr;
    store.setOperand(0, bits(store.getValueOperand()));
    return nullptr;
  }

  llvm::Value* lower_phi(llvm::PHINode& phi) {
    phis_.emplace_back(&phi, builder_.CreatePHI(builder_.getInt16Ty(), phi.getNumIncomingValues()));
    return phis_.back().second;
  }

  void complete_phis() {
    for (auto [phi, lowered] : phis_)
      for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
        llvm::BasicBlock* block = phi->getIncomingBlock(i);
        const int same_block = lowered->getBasicBlockIndex(block);
        builder_.SetInsertPoint(block->getTerminator());
        lowered->addIncoming(
            same_block < 0 ? bits(phi->getIncomingValue(i)) : lowered->getIncomingValue(unsigned(same_block)), block);
      }
    for (auto [phi, lowered] : phis_) phi->eraseFromParent();
  }

  llvm::Value* lower_bitcast(llvm::BitCastInst& cast) {
    if (cast.getSrcTy()->isBFloatTy()) return builder_.CreateBitCast(bits(cast.getOperand(0)), cast.getType());
    if (!cast.getType()->isBFloatTy() || cast.getSrcTy()->isIntegerTy(16)) return nullptr;
    return builder_.CreateBitCast(cast.getOperand(0), builder_.getInt16Ty());
  }

  llvm::Value* lower_conversion(llvm::CastInst& cast) {
    llvm::Value* operand = cast.getOperand(0);
    switch (cast.getOpcode()) {
      case llvm::Instruction::FPTrunc:
        return round(builder_.CreateFPTrunc(operand, float_type(cast.getType())));
      case llvm::Instruction::FPExt:
        return builder_.CreateFPExt(extend(operand), cast.getType());
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::UIToFP:
        return round(builder_.CreateCast(cast.getOpcode(), operand, float_type(cast.getType())));
      case llvm::Instruction::FPToSI:
      case llvm::Instruction::FPToUI:
        return builder_.CreateCast(cast.getOpcode(), extend(operand), cast.getType());
      default:
        return nullptr;
    }
  }

  llvm::Value* lower_intrinsic(llvm::IntrinsicInst& call) {
    const llvm::Intrinsic::ID intrinsic = call.getIntrinsicID();
    if (intrinsic == llvm::Intrinsic::fabs) return builder_.CreateAnd(bits(call.getArgOperand(0)), mask(call, 0x7FFF));
    if (intrinsic == llvm::Intrinsic::copysign)
      return builder_.CreateOr(builder_.CreateAnd(bits(call.getArgOperand(0)), mask(call, 0x7FFF)),
                               builder_.CreateAnd(bits(call.getArgOperand(1)), mask(call, 0x8000)));
    if (!llvm::isTriviallyVectorizable(intrinsic) || call.getType()->isStructTy()) return nullptr;

    llvm::SmallVector<llvm::Type*> types;
    if (!llvm::Intrinsic::getIntrinsicSignature(call.getCalledFunction(), types)) return nullptr;
    for (llvm::Type*& type : types)
      if (is_bfloat(type)) type = float_type(type);
    llvm::SmallVector<llvm::Value*> operands;
    for (llvm::Value* operand : call.args())
      operands.push_back(is_bfloat(operand->getType()) ? extend(operand) : operand);
    llvm::Value* result = builder_.CreateIntrinsic(intrinsic, types, operands);
    return is_bfloat(call.getType()) ? round(result) : result;
  }

  void replace(llvm::Instruction& instruction, llvm::Value* lowered) {
    const bool is_phi = llvm::isa<llvm::PHINode>(instruction);
    if (is_bfloat(instruction.getType())) {
      if (is_phi) builder_.SetInsertPoint(instruction.getParent(), instruction.getParent()->getFirstInsertionPt());
      lowered = from_bits(lowered);
    }
    instruction.replaceAllUsesWith(lowered);
    if (!is_phi) instruction.eraseFromParent();  // a phi's operands are still asked for
  }

  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;  // of bfloat, and what it becomes
  llvm::SmallVector<llvm::WeakTrackingVH> casts_;                // made on the way; most are not needed in the end
};

}  // namespace

llvm::PreservedAnalyses LowerBfloat::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  if (!Lowering(function).run()) return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses preserved;
  preserved.preserveSet<llvm::CFGAnalyses>();
  return preserved;
}

}  // namespace metalloid::cpu::vector
