#include "lowered_kernel.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

#include <stdexcept>

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

namespace {

std::string text_of(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace

LoweredKernel::LoweredKernel(const std::string& text, const Architecture& architecture)
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

LoweredKernel::LoweredKernel(LoweredKernel&&) noexcept = default;

LoweredKernel::~LoweredKernel() = default;

std::string LoweredKernel::ir() const {
  return text_of(*module_);
}

std::string LoweredKernel::ptx() {
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  machine_->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile);
  passes.run(*module_);
  return std::string(text);
}

void LoweredKernel::expect_valid() {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  EXPECT_FALSE(llvm::verifyModule(*module_, &stream)) << problem << ir();
}

}  // namespace metalloid::nvidia
