// Questions to all lanes of a group in lane form, for passes that make a faster way for groups whose lanes agree:
//
//     declare i1 @metalloid.all_lanes(i1)    true only if the condition holds in all lanes; false proves nothing
#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

namespace metalloid::cpu::vector {

constexpr llvm::StringLiteral all_lanes_function = "metalloid.all_lanes";

// Inserts, before a block's branch on a comparison, whether a lane takes it to `target`.
llvm::Value* goes_to(llvm::BasicBlock* block, const llvm::BasicBlock* target);

// Ends a block by a branch to `together` if the condition holds in all lanes, in place of its present end.
llvm::BranchInst* branch_together(llvm::BasicBlock* block, llvm::Value* condition, llvm::BasicBlock* together,
                                  llvm::BasicBlock* apart);

// Moves the end of a block to a new one of its own.
llvm::BasicBlock* split_off_end(llvm::BasicBlock* block);

}  // namespace metalloid::cpu::vector
