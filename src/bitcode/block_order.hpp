// The order in which the blocks of a function are laid out when branches that lanes disagree on become straight lines:
// before a block come all that lead to it, and the blocks of a loop stand together, its latch last.
#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Function.h>

#include <vector>

namespace metalloid::bitcode {

std::vector<llvm::BasicBlock*> block_order(llvm::Function& function, const llvm::LoopInfo& loops);

}  // namespace metalloid::bitcode
