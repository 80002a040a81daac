// One lane after the other: loops over lanes, and accesses that are too rare or too irregular for vector code and would
// fill a kernel's code if they stood there in full.
#pragma once

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>

namespace metalloid::cpu::vector {

// A function of the module of `user`, which calls it. Vectors are passed in the registers of the processor that caller
// and callee agree on.
llvm::Function* function_beside(const llvm::Function& user, const std::string& name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Type*> parameters);

struct Ways {
  llvm::BasicBlock *all, *some;
};

// Ends the block by a branch to `all` if all lanes are there, which need no loop over bits then, else to `some`.
Ways ways_by(llvm::IRBuilder<>& builder, llvm::Value* bits);

// For each bit that is set in `bits`, from the lowest on: body(the lane's number, an i64). The builder goes on behind
// it.
void loop_over_lanes(llvm::IRBuilder<>& builder, llvm::Value* bits, llvm::function_ref<void(llvm::Value* lane)> body);

// The same, where the body says which of the bits that are left, above the lane's own, are still to come.
void loop_over_lanes(llvm::IRBuilder<>& builder, llvm::Value* bits,
                     llvm::function_ref<llvm::Value*(llvm::Value* lane, llvm::Value* left)> body);

// The same for all lanes, several in a round: `place` is the lane's in its round, of up to eight.
void count_lanes(llvm::IRBuilder<>& builder, unsigned width,
                 llvm::function_ref<void(llvm::Value* lane, unsigned place)> body);

// <width x T> (<width x ptr> addresses, i<width> lanes): loads of the lanes whose bits are set, in their order; zero in
// the others.
llvm::Function* gather_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment);

// void (<width x T> values, <width x ptr> addresses, i<width> lanes)
llvm::Function* scatter_function(llvm::Function& user, llvm::Type* scalar, unsigned width, llvm::Align alignment);

}  // namespace metalloid::cpu::vector
