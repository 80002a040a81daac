// LLVM's textual IR, changed by a test and run on this machine.
#pragma once

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "bitcode/analyses.hpp"

namespace metalloid::cpu {

class Ir {
 public:
  explicit Ir(const std::string& text) : context_(std::make_unique<llvm::LLVMContext>()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    jit_ = checked(llvm::orc::LLJITBuilder().create());
    llvm::SMDiagnostic problem;
    module_ = llvm::parseAssemblyString(text, problem, *context_);
    if (!module_) throw std::runtime_error(problem.getMessage().str() + ": " + problem.getLineContents().str());
    module_->setDataLayout(jit_->getDataLayout());
    module_->setTargetTriple(jit_->getTargetTriple());
  }

  llvm::Module& module() { return *module_; }
  llvm::Function& function(llvm::StringRef name) { return *module_->getFunction(name); }

  // In all functions that have a body.
  template <class Pass>
  void run(Pass pass) {
    llvm::PassBuilder builder;
    bitcode::Analyses analyses(builder);
    llvm::FunctionPassManager passes;
    passes.addPass(std::move(pass));
    for (llvm::Function& function : *module_)
      if (!function.isDeclaration()) passes.run(function, analyses.functions);
    expect_valid();
  }

  void expect_valid() {
    std::string problem;
    llvm::raw_string_ostream stream(problem);
    EXPECT_FALSE(llvm::verifyModule(*module_, &stream)) << problem << text();
  }

  std::string text() {
    std::string text;
    llvm::raw_string_ostream(text) << *module_;
    return text;
  }

  // Ends the module's life: what comes after is its code. Type is that of a function, or of a variable.
  template <class Type>
  Type* find(llvm::StringRef name) {
    if (module_) {
      llvm::orc::ThreadSafeModule safe(std::move(module_), std::move(context_));
      if (auto error = jit_->addIRModule(std::move(safe))) throw std::runtime_error(llvm::toString(std::move(error)));
    }
    return checked(jit_->lookup(name)).toPtr<Type*>();
  }

 private:
  template <class T>
  static T checked(llvm::Expected<T> value) {
    if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
    return std::move(*value);
  }

  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
};

inline std::vector<char> numbered(size_t size) {
  std::vector<char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), char(1));
  return bytes;
}

}  // namespace metalloid::cpu
