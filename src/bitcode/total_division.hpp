// Integer division by zero, and the one signed division that overflows, have some result on a GPU; on processors they
// trap, and LLVM takes it that they never happen. The divisor becomes 1 in these cases. The compiler does this to
// kernels before any optimisation sees them, a device to what it links in.
#pragma once

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

namespace metalloid::bitcode {

inline void make_division_total(llvm::Module& module) {
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!instruction.isIntDivRem()) continue;
      llvm::Value* divisor = instruction.getOperand(1);
      const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(divisor);
      if (constant && !constant->isZero() && !constant->isMinusOne()) continue;
      llvm::IRBuilder<> builder(&instruction);
      llvm::Type* type = divisor->getType();
      llvm::Value* hopeless = builder.CreateIsNull(divisor);
      if (instruction.getOpcode() == llvm::Instruction::SDiv || instruction.getOpcode() == llvm::Instruction::SRem) {
        llvm::Constant* smallest =
            llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(type->getScalarSizeInBits()));
        llvm::Value* overflows =
            builder.CreateAnd(builder.CreateICmpEQ(instruction.getOperand(0), smallest),
                              builder.CreateICmpEQ(divisor, llvm::Constant::getAllOnesValue(type)));
        hopeless = builder.CreateOr(hopeless, overflows);
      }
      instruction.setOperand(1, builder.CreateSelect(hopeless, llvm::ConstantInt::get(type, 1), divisor));
    }
}

}  // namespace metalloid::bitcode
