#include "msl/grid_parameters.hpp"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/ReplaceConstant.h>

namespace metalloid::msl {

namespace {

llvm::GlobalVariable* find_variable(llvm::Module& module, const Parameter& variable) {
  return module.getNamedGlobal((grid_variable_prefix + variable.name).str());
}

// With the function's body, and parameters behind its own: of scalars by value, of vectors in memory.
llvm::Function* with_parameters(llvm::Function& kernel, llvm::ArrayRef<llvm::Type*> added) {
  llvm::SmallVector<llvm::Type*> types(kernel.getFunctionType()->params());
  const auto first = static_cast<unsigned>(types.size());
  auto* pointer = llvm::PointerType::get(kernel.getContext(), kernel.getDataLayout().getAllocaAddrSpace());
  for (llvm::Type* type : added) types.push_back(type->isStructTy() ? pointer : type);
  auto* result = llvm::Function::Create(llvm::FunctionType::get(kernel.getReturnType(), types, /*isVarArg=*/false),
                                        kernel.getLinkage(), kernel.getAddressSpace(), "", kernel.getParent());
  result->copyAttributesFrom(&kernel);
  result->copyMetadata(&kernel, 0);
  result->takeName(&kernel);
  result->splice(result->begin(), &kernel);
  for (auto [from, to] : llvm::zip_first(kernel.args(), result->args())) {
    to.takeName(&from);
    from.replaceAllUsesWith(&to);
  }
  for (unsigned i = 0; i < added.size(); ++i) {
    if (!added[i]->isStructTy()) continue;
    result->addParamAttr(first + i, llvm::Attribute::getWithByValType(kernel.getContext(), added[i]));
    result->addParamAttr(first + i, llvm::Attribute::getWithAlignment(
                                        kernel.getContext(), kernel.getDataLayout().getABITypeAlign(added[i])));
  }
  kernel.eraseFromParent();
  return result;
}

}  // namespace

Status add_grid_parameters(llvm::Function& kernel, std::span<const Parameter> variables) {
  llvm::Module& module = *kernel.getParent();
  llvm::SmallVector<llvm::Type*> types;
  for (const Parameter& variable : variables) {
    const llvm::GlobalVariable* global = find_variable(module, variable);
    types.push_back(global ? global->getValueType() : llvm::Type::getInt32Ty(module.getContext()));
  }
  llvm::Function* extended = types.empty() ? &kernel : with_parameters(kernel, types);
  llvm::IRBuilder<> builder(&extended->getEntryBlock(), extended->getEntryBlock().getFirstInsertionPt());
  llvm::Argument* argument = extended->arg_end() - types.size();
  for (const Parameter& variable : variables) {
    llvm::Argument* given = argument++;
    llvm::GlobalVariable* global = find_variable(module, variable);
    if (!global) continue;
    llvm::Value* place = given;
    if (!given->getType()->isPointerTy()) {
      place = builder.CreateAlloca(given->getType());
      builder.CreateStore(given, place);
    }
    llvm::convertUsersOfConstantsToInstructions(global, extended);
    llvm::Value* address = builder.CreateAddrSpaceCast(place, global->getType());
    global->replaceUsesWithIf(address, [&](llvm::Use& use) {
      const auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      return user && user->getFunction() == extended;
    });
    if (global->use_empty()) global->eraseFromParent();
  }
  for (const llvm::GlobalVariable& global : module.globals())
    if (global.getName().starts_with(grid_variable_prefix) && !global.use_empty())
      return Error{"'" + global.getName().drop_front(grid_variable_prefix.size()).str() +
                   "' is a value of the grid, which kernels have and what is inlined into them; here another function "
                   "uses it: make it a parameter"};
  return success();
}

}  // namespace metalloid::msl
