#include "cpu/vector/inline_calls.hpp"

#include <llvm/ADT/SCCIterator.h>
#include <llvm/Analysis/CallGraph.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include "bitcode/analyses.hpp"
#include "bitcode/builtin_bodies.hpp"
#include "bitcode/called_functions.hpp"
#include "cpu/lower/thread_values.hpp"

namespace metalloid::cpu::vector {

namespace {

llvm::SmallPtrSet<llvm::Function*, 8> recursive_functions(llvm::Module& module) {
  llvm::SmallPtrSet<llvm::Function*, 8> recursive;
  llvm::CallGraph graph(module);
  for (auto cycle = llvm::scc_begin(&graph); !cycle.isAtEnd(); ++cycle)
    if (cycle.hasCycle())
      for (llvm::CallGraphNode* node : *cycle)
        if (node->getFunction()) recursive.insert(node->getFunction());
  return recursive;
}

}  // namespace

void inline_calls(llvm::Module& module) {
  const auto recursive = recursive_functions(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || function.getName() == lower::entry_name) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    function.setComdat(nullptr);
    function.removeFnAttr(llvm::Attribute::OptimizeNone);
    const bool stays =
        recursive.contains(&function) || bitcode::is_called(function) || bitcode::accesses_texture(function.getName());
    function.removeFnAttr(stays ? llvm::Attribute::AlwaysInline : llvm::Attribute::NoInline);
    function.addFnAttr(stays ? llvm::Attribute::NoInline : llvm::Attribute::AlwaysInline);
  }
  llvm::PassBuilder builder;
  bitcode::Analyses analyses(builder);
  llvm::ModulePassManager passes;
  passes.addPass(llvm::AlwaysInlinerPass(/*InsertLifetimeIntrinsics=*/false));
  passes.addPass(llvm::GlobalDCEPass());
  passes.run(module, analyses.modules);
}

}  // namespace metalloid::cpu::vector
