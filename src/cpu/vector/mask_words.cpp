// Masks on processors that have no registers for them. LLVM would compute a <32 x i1> in bytes, and pack and unpack it
// at every comparison and every choice, which are of words. Here the logic of masks is done in words, 0 or -1; they are
// bits again where they are used, a comparison with 0 that costs nothing in front of a choice or a masked access.
//
//     %m = and <32 x i1> %a, %b              %m = and <32 x i32> %a.words, %b.words
//     select <32 x i1> %m, %x, %y            select (icmp slt %m, 0), %x, %y
//     icmp ne (bitcast %m to i32), 0         eight words, all others or'ed to them, are not all 0
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Transforms/Utils/Local.h>

#include "cpu/vector/passes.hpp"
#include "cpu/vector/target.hpp"

namespace metalloid::cpu::vector {

namespace {

using llvm::Value;

constexpr unsigned lanes_of_register = 8;

unsigned lanes_of_mask(const Value* value) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return type && type->getElementType()->isIntegerTy(1) ? type->getNumElements() : 0;
}

bool is_mask(const Value* value) {
  return lanes_of_mask(value) >= lanes_of_register;
}

bool is_not(const Value* value) {
  const auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  const auto* other = operation && operation->getOpcode() == llvm::Instruction::Xor
                          ? llvm::dyn_cast<llvm::Constant>(operation->getOperand(1))
                          : nullptr;
  return other && other->isAllOnesValue();
}

class MaskWords {
 public:
  explicit MaskWords(llvm::Function& function) : function_(function), builder_(function.getContext()) {}

  void run() {
    std::vector<llvm::Instruction*> masks, users;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_))
      for (llvm::Instruction& instruction : *block) {
        if (is_mask(&instruction)) masks.push_back(&instruction);
        if (!is_logic(&instruction) && llvm::any_of(instruction.operands(), is_mask_of_ours))
          users.push_back(&instruction);
      }
    for (llvm::Instruction* mask : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(mask)) {
        builder_.SetInsertPoint(phi);
        words_[phi] = builder_.CreatePHI(words_type(phi), phi->getNumIncomingValues());
      }
    for (llvm::Instruction* mask : masks)
      if (is_logic(mask)) words(mask);
    for (llvm::Instruction* mask : masks)
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(mask))
        for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
          llvm::cast<llvm::PHINode>(words_[phi])
              ->addIncoming(words(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
    for (llvm::Instruction* user : users) rewrite(*user);
    for (llvm::Instruction* mask : masks)
      if (llvm::isa<llvm::PHINode>(mask)) mask->replaceAllUsesWith(llvm::PoisonValue::get(mask->getType()));
    std::vector<llvm::WeakVH> dead(masks.begin(), masks.end());
    dead.insert(dead.end(), replaced_.begin(), replaced_.end());
    for (const llvm::WeakVH& instruction : dead)
      if (instruction) llvm::RecursivelyDeleteTriviallyDeadInstructions(instruction);
  }

 private:
  static bool is_mask_of_ours(const llvm::Use& use) { return is_mask(use) && llvm::isa<llvm::Instruction>(use); }

  // A mask that is made of others.
  static bool is_logic(const Value* value) {
    if (!is_mask(value)) return false;
    return llvm::isa<llvm::PHINode, llvm::BinaryOperator, llvm::SelectInst, llvm::FreezeInst, llvm::ShuffleVectorInst,
                     llvm::InsertElementInst>(value);
  }

  llvm::Type* words_type(const Value* mask) {
    return llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes_of_mask(mask));
  }

  // 0 or -1 in each lane.
  Value* words(Value* mask) {
    if (auto* constant = llvm::dyn_cast<llvm::Constant>(mask)) return builder_.CreateSExt(constant, words_type(mask));
    Value*& made = words_[mask];
    if (made) return made;
    auto* instruction = llvm::cast<llvm::Instruction>(mask);
    const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    Value* result;
    if (is_logic(instruction)) {
      result = logic(*instruction);
    } else {
      builder_.SetInsertPoint(*instruction->getInsertionPointAfterDef());
      result = builder_.CreateSExt(instruction, words_type(instruction));
    }
    return words_[mask] = result;  // the reference may be no more
  }

  Value* logic(llvm::Instruction& mask) {
    llvm::SmallVector<Value*> operands;
    for (Value* operand : mask.operands()) operands.push_back(is_mask(operand) ? words(operand) : operand);
    builder_.SetInsertPoint(&mask);
    if (llvm::isa<llvm::FreezeInst>(mask)) return builder_.CreateFreeze(operands[0]);
    if (llvm::isa<llvm::InsertElementInst>(mask))
      return builder_.CreateInsertElement(operands[0], builder_.CreateSExt(operands[1], builder_.getInt32Ty()),
                                          operands[2]);
    if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&mask)) {
      for (Value*& operand : operands)
        if (operand->getType()->getScalarType()->isIntegerTy(1))  // of a narrow mask
          operand =
              builder_.CreateSExt(operand, llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes_of_mask(operand)));
      return builder_.CreateShuffleVector(operands[0], operands[1], shuffle->getShuffleMask());
    }
    if (llvm::isa<llvm::SelectInst>(mask)) {
      Value* condition = mask.getOperand(0);
      return builder_.CreateSelect(is_mask(condition) ? bits(condition, mask) : condition, operands[1], operands[2]);
    }
    const auto operation = llvm::cast<llvm::BinaryOperator>(mask).getOpcode();
    // LLVM would make one comparison's worth of bits out of two.
    if (!is_not(&mask) && is_of_comparison(mask.getOperand(0), mask) && is_of_comparison(mask.getOperand(1), mask)) {
      Value* condition = mask.getOperand(0);
      if (operation == llvm::Instruction::And)
        return builder_.CreateSelect(condition, operands[1], llvm::Constant::getNullValue(operands[1]->getType()));
      if (operation == llvm::Instruction::Or)
        return builder_.CreateSelect(condition, llvm::Constant::getAllOnesValue(operands[1]->getType()), operands[1]);
    }
    return builder_.CreateBinOp(operation, operands[0], operands[1]);
  }

  // A comparison of the same block, perhaps turned round.
  static bool is_of_comparison(const Value* value, const llvm::Instruction& user) {
    while (llvm::isa<llvm::FreezeInst>(value) || is_not(value)) value = llvm::cast<llvm::User>(value)->getOperand(0);
    const auto* comparison = llvm::dyn_cast<llvm::CmpInst>(value);
    return comparison && comparison->getParent() == user.getParent();
  }

  // A mask as bits, in front of who uses it.
  Value* bits(Value* mask, llvm::Instruction& user) {
    if (llvm::isa<llvm::Constant>(mask)) return mask;
    if (!is_logic(mask) && llvm::cast<llvm::Instruction>(mask)->getParent() == user.getParent()) return mask;
    Value* all = words(mask);
    const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
    builder_.SetInsertPoint(&user);
    return builder_.CreateICmpSLT(all, llvm::Constant::getNullValue(all->getType()));
  }

  void rewrite(llvm::Instruction& user) {
    builder_.SetInsertPoint(&user);
    if (llvm::isa<llvm::BitCastInst>(user) && user.getType()->isIntegerTy())
      for (llvm::User* test : llvm::make_early_inc_range(user.users()))
        if (auto* comparison = llvm::dyn_cast<llvm::ICmpInst>(test)) simplify_test(*comparison, user);
    if (user.use_empty() && !user.mayHaveSideEffects() && !user.getType()->isVoidTy())
      return void(replaced_.push_back(&user));
    builder_.SetInsertPoint(&user);
    if (llvm::isa<llvm::SExtInst>(user) && user.getType() == words_type(user.getOperand(0))) {
      user.replaceAllUsesWith(words(user.getOperand(0)));
      return void(replaced_.push_back(&user));
    }
    if (llvm::isa<llvm::ExtractElementInst>(user) && is_logic(user.getOperand(0))) {
      Value* word = builder_.CreateExtractElement(words(user.getOperand(0)), user.getOperand(1));
      user.replaceAllUsesWith(builder_.CreateTrunc(word, builder_.getInt1Ty()));
      return void(replaced_.push_back(&user));
    }
    for (llvm::Use& use : user.operands())
      if (is_mask(use)) use.set(bits(use, user));
  }

  // Whether any lane is on, or all are.
  void simplify_test(llvm::ICmpInst& test, llvm::Instruction& cast) {
    const auto* with = llvm::dyn_cast<llvm::ConstantInt>(test.getOperand(1));
    if (!test.isEquality() || test.getOperand(0) != &cast || !with || !(with->isZero() || with->isMinusOne())) return;
    Value* left = words(cast.getOperand(0));
    builder_.SetInsertPoint(&cast);
    for (unsigned lanes = lanes_of_mask(cast.getOperand(0)) / 2; lanes >= lanes_of_register; lanes /= 2) {
      llvm::SmallVector<int> low, high;
      for (unsigned l = 0; l < lanes; ++l) {
        low.push_back(static_cast<int>(l));
        high.push_back(static_cast<int>(lanes + l));
      }
      Value *a = builder_.CreateShuffleVector(left, low), *b = builder_.CreateShuffleVector(left, high);
      left = with->isZero() ? builder_.CreateOr(a, b) : builder_.CreateAnd(a, b);
    }
    Value* signs = builder_.CreateBitCast(builder_.CreateICmpSLT(left, llvm::Constant::getNullValue(left->getType())),
                                          builder_.getIntNTy(lanes_of_register));
    builder_.SetInsertPoint(&test);
    test.replaceAllUsesWith(builder_.CreateICmp(test.getPredicate(), signs,
                                                with->isZero() ? llvm::Constant::getNullValue(signs->getType())
                                                               : llvm::Constant::getAllOnesValue(signs->getType())));
    test.eraseFromParent();
  }

  llvm::Function& function_;
  llvm::IRBuilder<> builder_;
  llvm::DenseMap<const Value*, Value*> words_;
  std::vector<llvm::Instruction*> replaced_;
};

}  // namespace

llvm::PreservedAnalyses WidenMasks::run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
  if (has_mask_registers(function)) return llvm::PreservedAnalyses::all();
  MaskWords(function).run();
  return llvm::PreservedAnalyses::none();
}

}  // namespace metalloid::cpu::vector
