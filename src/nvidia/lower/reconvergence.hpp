// Lanes that are apart wait for each other where they are to meet.
//
// Lanes take part in the same call of a group function if they are at the same call, in the same iteration of every
// loop around it. Where they are together (group_functions_together.hpp) nothing has to be done about it. Elsewhere the
// hardware runs each side of a branch as it likes, and a group function has to be told who calls it. So before each
// block that has such a call, and is apart, lanes make a stop:
//
//     stop:   %mask = ballot(%lanes, %next == block)     %lanes: all that may come here
//             switch (%next)                             block, or where else this lane is going
//
// All lanes that went apart come by, those that are on their way to a later place, too: an edge that jumps over stops
// notes where it leads, in %next, and goes to the first of them. What counts as later is an order of all blocks in
// which those of a loop stand together (bitcode/block_order.hpp). A loop with stops in it is a place with a stop
// itself; its lanes are those that go in, and at its end, a stop behind its last block, those that go round once more:
//
//     end:    %lanes' = ballot(%lanes, %next == header)
//
// Outside of such loops %lanes is everyone who has not ended. Stops are made for the blocks that need them only:
// between two stops, lanes go their ways as they did before. Who meets is data from here on, so no later pass can
// change it, and none duplicates a vote.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/ValueHandle.h>

#include "nvidia/lower/group_functions_together.hpp"

namespace metalloid::nvidia::lower {

// Loops with several entries get one, whichever lanes are together. Whether there were any.
bool make_reducible(llvm::Function& function);

// The lanes that are in a block: an i32, a bit for each lane of the hardware.
using LanesOfBlocks = llvm::DenseMap<const llvm::BasicBlock*, llvm::WeakTrackingVH>;

// Gives those of each of `blocks`, which are apart.
LanesOfBlocks reconverge(llvm::Function& function, const Together& together, llvm::ArrayRef<llvm::BasicBlock*> blocks);

}  // namespace metalloid::nvidia::lower
