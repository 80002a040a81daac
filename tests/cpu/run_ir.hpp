// LLVM's textual IR, changed by a test and run on this machine.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>

#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "../support/jit.hpp"

namespace metalloid::cpu {

class Ir {
 public:
  explicit Ir(const std::string& text);

  llvm::Module& module() { return *module_; }
  llvm::Function& function(llvm::StringRef name) { return *module_->getFunction(name); }

  // In all functions that have a body.
  template <class Pass>
  void run(Pass pass) {
    for_each_function([&](llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
      analyses.invalidate(function, pass.run(function, analyses));
    });
  }

  void expect_valid();
  std::string text();

  // Ends the module's life: what comes after is its code. Type is that of a function, or of a variable.
  template <class Type>
  Type* find(llvm::StringRef name) {
    if (module_) jit_.add(std::move(module_), std::move(context_));
    return jit_.find<Type>(name);
  }

 private:
  void for_each_function(const std::function<void(llvm::Function&, llvm::FunctionAnalysisManager&)>& change);

  Jit jit_;
  std::unique_ptr<llvm::LLVMContext> context_;
  std::unique_ptr<llvm::Module> module_;
};

inline std::vector<char> numbered(size_t size) {
  std::vector<char> bytes(size);
  std::iota(bytes.begin(), bytes.end(), char(1));
  return bytes;
}

}  // namespace metalloid::cpu
