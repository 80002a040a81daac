// A kernel in LLVM's textual IR, taken through the passes of lower/passes.hpp as nvidia::compile does.
#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <string>

#include "nvidia/compile.hpp"

namespace llvm {
class TargetMachine;
}

namespace metalloid::nvidia {

class LoweredKernel {
 public:
  LoweredKernel(const std::string& text, const Architecture& architecture);
  LoweredKernel(LoweredKernel&&) noexcept;
  ~LoweredKernel();

  const std::string& before_optimisation() const { return before_optimisation_; }
  std::string ir() const;
  std::string ptx();

  // Ends its life here.
  std::pair<std::unique_ptr<llvm::LLVMContext>, std::unique_ptr<llvm::Module>> take() {
    return {std::move(context_), std::move(module_)};
  }

 private:
  void expect_valid();

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
