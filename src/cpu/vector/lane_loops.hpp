// Accesses of one lane after the other, out of line: what is too rare or too irregular for vector code, and would fill
// a kernel's code if it stood there in full.
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace metalloid::cpu::vector {

// <width x T> (<width x ptr> addresses, i<width> lanes): loads of the lanes whose bits are set, in their order; zero in
// the others.
llvm::Function* gather_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment);

// void (<width x T> values, <width x ptr> addresses, i<width> lanes)
llvm::Function* scatter_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment);

}  // namespace metalloid::cpu::vector
