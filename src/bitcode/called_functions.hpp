// Functions that stay functions although nothing speaks against inlining them but the length of the code: the compiler
// says which (src/msl/long_kernels.hpp), and devices leave it at that.
#pragma once

#include <llvm/IR/Function.h>

namespace metalloid::bitcode {

inline constexpr llvm::StringLiteral called_attribute = "metal.called";

inline void mark_as_called(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::AlwaysInline);
  function.addFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(called_attribute);
}

inline bool is_called(const llvm::Function& function) {
  return function.hasFnAttribute(called_attribute);
}

}  // namespace metalloid::bitcode
