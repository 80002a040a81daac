// LLVM's IR as code that runs in this process. LLVM's own header for that is too long to be in others.
#pragma once

#include <llvm/IR/DataLayout.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace metalloid {

// Code may call the conversions of half and bfloat that kernels may, for processors without instructions for them.
class Jit {
 public:
  Jit();
  Jit(Jit&&) noexcept;
  ~Jit();

  // Modules get it before passes of this machine's kind look at them.
  void set_target(llvm::Module& module) const;
  void add(std::unique_ptr<llvm::Module> module, std::unique_ptr<llvm::LLVMContext> context);

  // Throws if there is no such symbol. Type is that of a function, or of a variable.
  template <class Type>
  Type* find(llvm::StringRef name) {
    return reinterpret_cast<Type*>(address_of(name));
  }

 private:
  void* address_of(llvm::StringRef name);

  std::unique_ptr<llvm::orc::LLJIT> jit_;
};

}  // namespace metalloid
