#include "bitcode/threadgroup_alloc.hpp"

#include <fmt/format.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Instructions.h>

#include "bitcode/address_spaces.hpp"

namespace metalloid::bitcode {

Status resolve_threadgroup_alloc(llvm::Module& module, const std::string& function) {
  llvm::Function* alloc = module.getFunction("metal.threadgroup_alloc");
  if (!alloc) return success();
  for (llvm::User* user : llvm::make_early_inc_range(alloc->users())) {
    auto* call = llvm::cast<llvm::CallInst>(user);
    const auto* bytes = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(0));
    const auto* alignment = llvm::dyn_cast<llvm::ConstantInt>(call->getArgOperand(1));
    if (!bytes || !alignment)
      return Error{
          fmt::format("a threadgroup array of '{}' has a size that function constants do not determine", function)};
    if (bytes->getValue().isNegative() || bytes->getValue().ugt(1u << 30))
      return Error{
          fmt::format("a threadgroup array of '{}' has an impossible size: {} bytes", function, bytes->getSExtValue())};
    auto* type = llvm::ArrayType::get(llvm::Type::getInt8Ty(module.getContext()), bytes->getZExtValue());
    auto* variable = new llvm::GlobalVariable(module, type, /*isConstant=*/false, llvm::GlobalValue::InternalLinkage,
                                              llvm::UndefValue::get(type), "threadgroup_array", nullptr,
                                              llvm::GlobalValue::NotThreadLocal, threadgroup_address_space);
    variable->setAlignment(llvm::MaybeAlign(alignment->getZExtValue()));
    call->replaceAllUsesWith(variable);
    call->eraseFromParent();
  }
  alloc->eraseFromParent();
  return success();
}

}  // namespace metalloid::bitcode
