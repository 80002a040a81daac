#include "run_ir.hpp"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <stdexcept>

#include "bitcode/analyses.hpp"

namespace metalloid::cpu {

Ir::Ir(const std::string& text) : context_(std::make_unique<llvm::LLVMContext>()) {
  llvm::SMDiagnostic problem;
  module_ = llvm::parseAssemblyString(text, problem, *context_);
  if (!module_) throw std::runtime_error(problem.getMessage().str() + ": " + problem.getLineContents().str());
  jit_.set_target(*module_);
}

void Ir::for_each_function(const std::function<void(llvm::Function&, llvm::FunctionAnalysisManager&)>& change) {
  llvm::PassBuilder builder;
  bitcode::Analyses analyses(builder);
  for (llvm::Function& function : *module_)
    if (!function.isDeclaration()) change(function, analyses.functions);
  expect_valid();
}

void Ir::expect_valid() {
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  EXPECT_FALSE(llvm::verifyModule(*module_, &stream)) << problem << text();
}

std::string Ir::text() {
  std::string text;
  llvm::raw_string_ostream(text) << *module_;
  return text;
}

}  // namespace metalloid::cpu
