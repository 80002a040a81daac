#include "bitcode/fold.hpp"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/IPO/GlobalOpt.h>
#include <llvm/Transforms/IPO/StripDeadPrototypes.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/InstSimplifyPass.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SCCP.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "bitcode/analyses.hpp"

namespace metalloid::bitcode {

namespace {

void inline_everything(llvm::Function& function) {
  constexpr int enough = 1000;  // recursion is not evaluated
  llvm::SmallVector<llvm::CallBase*> calls;
  auto collect = [&] {
    calls.clear();
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        if (call->getCalledFunction() && !call->getCalledFunction()->isDeclaration()) calls.push_back(call);
    return !calls.empty();
  };
  for (int inlined = 0; collect() && inlined < enough;)
    for (llvm::CallBase* call : calls) {
      llvm::InlineFunctionInfo info;
      if (!llvm::InlineFunction(*call, info).isSuccess() || ++inlined == enough) return;
    }
}

// Hints that mean nothing to an evaluation, which does not know them.
void remove_hints(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto* hint = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      if (hint->getIntrinsicID() == llvm::Intrinsic::experimental_noalias_scope_decl) hint->eraseFromParent();
}

}  // namespace

void fold(llvm::Module& module) {
  llvm::FunctionPassManager each;
  each.addPass(llvm::SCCPPass());
  each.addPass(llvm::EarlyCSEPass());
  each.addPass(llvm::SimplifyCFGPass(llvm::SimplifyCFGOptions().speculateBlocks(false)));  // reads stay conditional
  each.addPass(llvm::ADCEPass());

  llvm::ModulePassManager passes;
  passes.addPass(llvm::GlobalOptPass());
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(each)));
  passes.addPass(llvm::GlobalDCEPass());
  passes.addPass(llvm::StripDeadPrototypesPass());
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  passes.run(module, analyses.modules);
}

void fold_constructor(llvm::Function& constructor) {
  inline_everything(constructor);
  remove_hints(constructor);
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::LoopSimplifyPass());
  passes.addPass(llvm::LCSSAPass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass()));
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::SCCPPass());
  passes.addPass(llvm::InstSimplifyPass());
  passes.addPass(llvm::SimplifyCFGPass());
  passes.addPass(llvm::ADCEPass());
  llvm::PassBuilder builder;
  Analyses analyses(builder);
  passes.run(constructor, analyses.functions);
}

}  // namespace metalloid::bitcode
