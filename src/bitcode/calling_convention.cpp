#include "bitcode/calling_convention.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::bitcode {

void use_c_calling_convention(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.getCallingConv() == llvm::CallingConv::SPIR_FUNC) function.setCallingConv(llvm::CallingConv::C);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (call->getCallingConv() == llvm::CallingConv::SPIR_FUNC) call->setCallingConv(llvm::CallingConv::C);
  }
}

}  // namespace metalloid::bitcode
