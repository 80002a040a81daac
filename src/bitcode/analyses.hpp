// The analyses that LLVM's passes ask for, of all levels, knowing of each other.
#pragma once

#include <llvm/Passes/PassBuilder.h>

namespace metalloid::bitcode {

struct Analyses {
  explicit Analyses(llvm::PassBuilder& builder) {
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
  }

  // In this order: what is of a module refers to the others, and goes first.
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
};

}  // namespace metalloid::bitcode
