// A kernel in LLVM's textual IR, taken through the passes of lower/passes.hpp as nvidia::compile does.
#pragma once

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "bitcode/analyses.hpp"
#include "nvidia/lower/passes.hpp"
#include "nvidia/lower/wide_accesses.hpp"

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

namespace metalloid::nvidia {

class LoweredKernel {
 public:
  LoweredKernel(const std::string& text, const Architecture& architecture)
      : context_(std::make_unique<llvm::LLVMContext>()) {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, *context_);
    if (!module_) throw std::runtime_error(problem.getMessage().str() + ": " + problem.getLineContents().str());
    const llvm::Triple triple("nvptx64-nvidia-cuda");
    std::string reason;
    machine_.reset(llvm::TargetRegistry::lookupTarget(triple, reason)
                       ->createTargetMachine(triple, architecture.name(), "+ptx78", {}, llvm::Reloc::PIC_));
    module_->setTargetTriple(triple);
    module_->setDataLayout(machine_->createDataLayout());

    lower::use_hardware_math(*module_);
    lower::use_hardware_fences(*module_);
    lower::lower_matrices(*module_, architecture);
    lower::lower_barriers(*module_);
    lower::lower_group_functions(*module_, architecture);
    expect_valid();
    before_optimisation_ = text_of(*module_);
    lower::expand_small_copies(*module_);
    llvm::PassBuilder builder(machine_.get());
    bitcode::Analyses analyses(builder);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module_, analyses.modules);
    lower::combine_matrix_products(*module_, architecture);
    analyses.modules.clear();
    for (llvm::Function& function : *module_)
      if (!function.isDeclaration()) lower::widen_accesses(function, analyses.functions);
    expect_valid();
  }

  const std::string& before_optimisation() const { return before_optimisation_; }
  std::string ir() const { return text_of(*module_); }

  std::string ptx() {
    llvm::SmallString<0> text;
    llvm::raw_svector_ostream stream(text);
    llvm::legacy::PassManager passes;
    machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
    passes.run(*module_);
    return std::string(text);
  }

  // Ends its life here.
  std::pair<std::unique_ptr<llvm::LLVMContext>, std::unique_ptr<llvm::Module>> take() {
    return {std::move(context_), std::move(module_)};
  }

 private:
  static std::string text_of(const llvm::Module& module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  void expect_valid() {
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    EXPECT_FALSE(llvm::verifyModule(*module_, &stream)) << problem << ir();
  }

  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::string before_optimisation_;
};

inline size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace metalloid::nvidia
