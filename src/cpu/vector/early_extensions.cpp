#include "cpu/vector/early_extensions.hpp"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Operator.h>
#include <llvm/Transforms/Utils/Local.h>

#include <map>

#include "cpu/vector/shape_analysis.hpp"

namespace metalloid::cpu::vector {

namespace {

// Of a choice, the first operand is the condition.
unsigned first_operand(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::SelectInst>(instruction) ? 1 : 0;
}

// Extensions to one type, of one sign.
class Extensions {
 public:
  Extensions(llvm::Type* type, bool is_signed, const ShapeAnalysis& shapes)
      : type_(type), is_signed_(is_signed), shapes_(shapes) {}

  // The extended value has the steps that the value has.
  bool keeps_steps(const llvm::Value* value) const {
    const Shape shape = shapes_.shape(value);
    return shape.is_uniform() || (shape.is_known() && (is_signed_ ? shape.is_exact_signed : shape.is_exact_unsigned));
  }

  // The value comes from such, by operations that give the same when their operands are extended.
  bool can_be_early(const llvm::Value* value) const {
    llvm::SmallPtrSet<const llvm::Value*, 16> seen;
    llvm::SmallVector<const llvm::Value*> left{value};
    while (!left.empty()) {
      const llvm::Value* next = left.pop_back_val();
      if (llvm::isa<llvm::ConstantInt, llvm::Argument>(next)) continue;
      const auto* instruction = llvm::dyn_cast<llvm::Instruction>(next);
      if (!instruction) return false;
      if (keeps_steps(instruction) || !seen.insert(instruction).second) continue;
      if (!shapes_.is_known(instruction) || !can_be_wide(*instruction)) return false;
      left.append(instruction->op_begin() + first_operand(*instruction), instruction->op_end());
    }
    return true;
  }

  llvm::Value* of(llvm::Value* value) {
    if (const auto* number = llvm::dyn_cast<llvm::ConstantInt>(value)) {
      const unsigned bits = type_->getIntegerBitWidth();
      return llvm::ConstantInt::get(type_, is_signed_ ? number->getValue().sext(bits) : number->getValue().zext(bits));
    }
    if (auto made = made_.find(value); made != made_.end()) return made->second;
    if (keeps_steps(value)) return made_[value] = cast(value);
    auto* instruction = llvm::cast<llvm::Instruction>(value);
    llvm::Instruction* wide = instruction->clone();
    made_[value] = wide;
    wide->mutateType(type_);
    wide->insertBefore(instruction->getIterator());
    for (unsigned i = first_operand(*instruction); i < instruction->getNumOperands(); ++i)
      wide->setOperand(i, of(instruction->getOperand(i)));
    if (llvm::isa<llvm::OverflowingBinaryOperator>(wide)) {
      wide->setHasNoSignedWrap();
      wide->setHasNoUnsignedWrap(!is_signed_);
    }
    return wide;
  }

 private:
  llvm::Value* cast(llvm::Value* value) const {
    llvm::IRBuilder<> builder(value->getContext());
    if (auto* argument = llvm::dyn_cast<llvm::Argument>(value)) {
      llvm::BasicBlock& entry = argument->getParent()->getEntryBlock();
      builder.SetInsertPoint(&entry, entry.getFirstInsertionPt());
    } else {
      auto* instruction = llvm::cast<llvm::Instruction>(value);
      builder.SetInsertPoint(instruction->getParent(), *instruction->getInsertionPointAfterDef());
      builder.SetCurrentDebugLocation(instruction->getDebugLoc());
    }
    return is_signed_ ? builder.CreateSExt(value, type_) : builder.CreateZExt(value, type_);
  }

  bool can_be_wide(const llvm::Instruction& instruction) const {
    if (llvm::isa<llvm::PHINode>(instruction)) return true;
    if (const auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      return shapes_.is_uniform(choice->getCondition());
    const auto* operation = llvm::dyn_cast<llvm::OverflowingBinaryOperator>(&instruction);
    if (!operation) return false;
    if (operation->getOpcode() == llvm::Instruction::Shl && !llvm::isa<llvm::ConstantInt>(operation->getOperand(1)))
      return false;
    return is_signed_ ? operation->hasNoSignedWrap() : operation->hasNoUnsignedWrap();
  }

  llvm::Type* type_;
  bool is_signed_;
  const ShapeAnalysis& shapes_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> made_;
};

void delete_unused(llvm::Function& function, llvm::SmallVectorImpl<llvm::WeakTrackingVH>& replaced) {
  llvm::RecursivelyDeleteTriviallyDeadInstructionsPermissive(replaced);
  llvm::SmallVector<llvm::WeakTrackingVH> phis;
  for (llvm::BasicBlock& block : function)
    for (llvm::PHINode& phi : block.phis()) phis.emplace_back(&phi);
  for (const llvm::WeakTrackingVH& phi : phis)
    if (phi) llvm::RecursivelyDeleteDeadPHINode(llvm::cast<llvm::PHINode>(phi));
}

}  // namespace

void add_what_is_disjoint(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
    if (!either || !either->isDisjoint()) continue;
    auto* sum =
        llvm::BinaryOperator::CreateAdd(either->getOperand(0), either->getOperand(1), "", either->getIterator());
    sum->setHasNoSignedWrap();
    sum->setHasNoUnsignedWrap();
    sum->setDebugLoc(either->getDebugLoc());
    either->replaceAllUsesWith(sum);
    either->eraseFromParent();
  }
}

bool extend_early(llvm::Function& function, const ShapeAnalysis& shapes) {
  std::map<std::pair<llvm::Type*, bool>, Extensions> all;
  llvm::SmallVector<llvm::WeakTrackingVH> replaced;
  for (llvm::Instruction& cast : llvm::make_early_inc_range(llvm::instructions(function))) {
    if (!llvm::isa<llvm::ZExtInst, llvm::SExtInst>(cast)) continue;
    llvm::Value* index = cast.getOperand(0);
    if (!index->getType()->isIntegerTy() || index->getType()->isIntegerTy(1) || !shapes.is_known(index)) continue;
    const bool is_signed = llvm::isa<llvm::SExtInst>(cast);
    const auto extensions = [&](bool as_signed) -> Extensions& {
      return all.try_emplace({cast.getType(), as_signed}, cast.getType(), as_signed, shapes).first->second;
    };
    if (extensions(is_signed).keeps_steps(index)) continue;
    for (const bool as_signed : {is_signed, true}) {
      if (as_signed != is_signed && !cast.hasNonNeg()) break;
      if (!extensions(as_signed).can_be_early(index)) continue;
      cast.replaceAllUsesWith(extensions(as_signed).of(index));
      replaced.emplace_back(&cast);
      break;
    }
  }
  const bool has_changed = !replaced.empty();
  if (has_changed) delete_unused(function, replaced);
  return has_changed;
}

}  // namespace metalloid::cpu::vector
