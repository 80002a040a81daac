#include "cpu/optimise.hpp"

#include <llvm/ADT/SmallString.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/raw_ostream.h>

#include "bitcode/analyses.hpp"
#include "cpu/lower/private_arrays.hpp"

namespace metalloid::cpu {

namespace {

// Metal's compiler may take it that loops end; a program that finds an endless one wants to be told.
void expect_endless_loops(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::MustProgress);
  function.removeFnAttr(llvm::Attribute::WillReturn);
  for (llvm::BasicBlock& block : function) {
    llvm::Instruction* last = block.getTerminator();
    if (llvm::MDNode* loop = last->getMetadata(llvm::LLVMContext::MD_loop))
      last->setMetadata(llvm::LLVMContext::MD_loop, llvm::makePostTransformationMetadata(
                                                        function.getContext(), loop, {"llvm.loop.mustprogress"}, {}));
  }
}

}  // namespace

void retarget(llvm::Module& module, const llvm::TargetMachine& machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("probe-stack", "inline-asm");  // a large frame does not step over the guard page
    function.addFnAttr(llvm::Attribute::NoUnwind);
    expect_endless_loops(function);
  }
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  bitcode::Analyses analyses(builder);
  builder.registerVectorizerStartEPCallback(
      [](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) { passes.addPass(lower::GuardPrivateArrays()); });
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
}

Result<std::string> generate_code(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::SmallString<0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return Error{"LLVM cannot generate code for this processor"};
  passes.run(module);
  return std::string(object);
}

}  // namespace metalloid::cpu
